import type { Derived, Graph } from '../derive/graph.ts';
import type { ProxyScope } from '../model/scope.ts';
import { deriveEndpointGroups, type EndpointGroups } from './endpoint-groups.ts';
import type { Mesh } from './mesh.ts';
import { deriveOutboundPlan, type OutboundPlan } from './outbound-plan.ts';
import { deriveOutboundScope, type OutboundScope } from './outbound-scope.ts';

/** Where a proxy may send traffic to: what its clusters and their endpoints have in common. */
export interface Outbound {
  readonly scopeOf: Derived<ProxyScope, OutboundScope | undefined>;
  readonly plan: Derived<OutboundScope, OutboundPlan>;
  readonly endpoints: EndpointGroups;
}

export function deriveOutbound(graph: Graph, mesh: Mesh): Outbound {
  return {
    scopeOf: deriveOutboundScope(graph, mesh),
    plan: deriveOutboundPlan(graph, mesh),
    endpoints: deriveEndpointGroups(graph, mesh),
  };
}
