import type { Graph } from '../derive/graph.ts';
import type { ProxyScope } from '../model/scope.ts';
import type { EncodedResource } from '../proto/resource-set.ts';
import { deriveAccess } from './access-policies.ts';
import { deriveCaptureListeners } from './capture-listeners.ts';
import { sameVersion } from './encoded-resource.ts';
import { deriveGatewayListeners } from './gateways/listeners.ts';
import { deriveGrpcListeners } from './grpc/listeners.ts';
import { deriveInboundListeners } from './inbound-listeners.ts';
import { deriveListenerFacets } from './listener-facets.ts';
import { deriveListenerViews } from './listener-views.ts';
import type { Mesh } from './mesh.ts';
import type { Outbound } from './outbound.ts';
import { deriveOutboundListenerPlan } from './outbound-listener-plan.ts';
import { deriveOutboundListeners } from './outbound-listeners.ts';
import { derivePeerPolicies } from './peer-policies.ts';
import type { ScopedResources } from './resource-types.ts';
import { deriveTelemetry } from './telemetry.ts';
import { unionCollection } from './union-collection.ts';

/** Listeners of every sidecar and gateway. Of two of a sidecar that want one name, that for a service which the workload calls stays. */
export function deriveListeners(graph: Graph, mesh: Mesh, outbound: Outbound): ScopedResources {
  const switches = mesh.options.listeners;
  const telemetry = deriveTelemetry(graph, mesh);
  const views = deriveListenerViews(graph, mesh, switches, telemetry);
  const facets = deriveListenerFacets(graph, mesh, switches, telemetry);
  const plans = deriveOutboundListenerPlan(graph, mesh, views, switches);
  const toServices = deriveOutboundListeners(graph, mesh, outbound, plans, views, facets);
  const peerPolicies = derivePeerPolicies(graph, mesh);
  const access = deriveAccess(graph, mesh);
  const sources = [
    deriveCaptureListeners(graph, mesh, toServices, views, facets),
    deriveInboundListeners(graph, mesh, views, facets, access, peerPolicies, switches),
  ];
  const own = graph.collection<ProxyScope, string, EncodedResource>('ownListeners', {
    items: (scope) => {
      const { tcp, http } = plans.plan.get(plans.scopeOf.get(scope));
      return sources.flatMap((source) => source.names(scope)).filter((name) => !tcp.has(name) && !http.has(name));
    },
    value: (name, scope) => {
      for (const source of sources) {
        const listener = source.listener(name, scope);
        if (listener !== undefined) return listener;
      }
      return undefined;
    },
    equals: sameVersion,
  });
  const grpc = deriveGrpcListeners(graph, mesh, outbound, { access, peerPolicies });
  const gateways = deriveGatewayListeners(graph, mesh, { outbound, views, facets, access });
  return unionCollection<ProxyScope, EncodedResource>(
    'listeners',
    (scope) => {
      if (scope.capabilities.grpc) return [grpc.get(scope)];
      if (scope.type === 'router') return mesh.patched.listeners.views(scope, [gateways.get(scope)]);
      if (scope.type !== 'sidecar') return [];
      const shared = toServices.sets.map(({ listeners, keyOf }) => listeners.get(keyOf.get(scope)));
      return mesh.patched.listeners.views(scope, [...shared, own.get(scope)]);
    },
    sameVersion,
  );
}
