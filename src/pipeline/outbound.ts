import type { Hostname } from '../base/host.ts';
import type { ObjectNumbers } from '../base/weak-intern.ts';
import type { Derived, Graph } from '../derive/graph.ts';
import type { ProxyScope } from '../model/scope.ts';
import type { Service } from '../model/service.ts';
import { deriveEndpointGroups, type EndpointGroups } from './endpoint-groups.ts';
import type { Mesh } from './mesh.ts';
import { deriveOutboundPlan, type OutboundPlan, type OutboundPlans } from './outbound-plan.ts';
import { deriveOutboundPlanSources, type OutboundPlanSources } from './outbound-plan-source.ts';
import { deriveOutboundScope, type OutboundScope } from './outbound-scope.ts';

/** Where a proxy may send traffic to: what its clusters and their endpoints have in common. */
export interface Outbound {
  readonly scopeOf: Derived<ProxyScope, OutboundScope | undefined>;
  readonly planOf: Derived<OutboundScope, OutboundPlan>;
  readonly sources: OutboundPlanSources;
  readonly entryOf: OutboundPlans['entryOf'];
  /** Numbers of entries, for keys. */
  readonly entryNumbers: ObjectNumbers;
  /** Whether any DestinationRule is about a host. */
  readonly hasRule: Derived<'', (host: Hostname) => boolean>;
  readonly endpoints: EndpointGroups;
  /** The service that a proxy knows by a host. */
  knownService(scope: Pick<ProxyScope, 'namespace' | 'sidecar'>, host: Hostname): Service | undefined;
}

export function deriveOutbound(graph: Graph, mesh: Mesh): Outbound {
  const plans = deriveOutboundPlan(graph, mesh);
  const sources = deriveOutboundPlanSources(graph, plans);
  /** Key `namespace|sidecar|host`. */
  const knownServices = graph.derived<string, Service | undefined>('knownService', (key) => {
    const [namespace = '', sidecar = '', host = ''] = key.split('|');
    return mesh.sidecarScope.get({ namespace, sidecar }).servicesByHostname.get(host);
  });
  return {
    scopeOf: deriveOutboundScope(graph, mesh),
    planOf: plans.of,
    sources,
    entryOf: plans.entryOf,
    entryNumbers: plans.numbers,
    hasRule: plans.hasRule,
    endpoints: deriveEndpointGroups(graph, mesh, sources),
    knownService: ({ namespace, sidecar }, host) => knownServices.get(`${namespace}|${sidecar}|${host}`),
  };
}
