import type { Graph } from '../derive/graph.ts';
import { DEFAULT_LISTENER_SWITCHES } from '../envoy/listeners/switches.ts';
import type { ProxyScope } from '../model/scope.ts';
import type { EncodedResource } from '../proto/resource-set.ts';
import { sameVersion } from './encoded-resource.ts';
import { deriveInboundListeners } from './inbound-listeners.ts';
import { deriveListenerFacets } from './listener-facets.ts';
import { deriveListenerViews } from './listener-views.ts';
import type { Mesh } from './mesh.ts';
import type { Outbound } from './outbound.ts';
import { deriveOutboundListeners } from './outbound-listeners.ts';
import type { ScopedResources } from './resource-types.ts';

/** Listeners of every sidecar. Of two for one name, that for what the workload calls stays. */
export function deriveListeners(graph: Graph, mesh: Mesh, outbound: Outbound): ScopedResources {
  const switches = DEFAULT_LISTENER_SWITCHES;
  const views = deriveListenerViews(graph, mesh, switches);
  const facets = deriveListenerFacets(graph, mesh, switches);
  const sources = [
    deriveOutboundListeners(graph, mesh, views, facets, switches, outbound),
    deriveInboundListeners(graph, mesh, views, facets, switches),
  ];
  return graph.collection<ProxyScope, string, EncodedResource>('listeners', {
    items: (scope) =>
      scope.type === 'sidecar' && !scope.capabilities.grpc ? sources.flatMap((source) => source.names(scope)) : [],
    value: (name, scope) => {
      for (const source of sources) {
        const listener = source.listener(name, scope);
        if (listener !== undefined) return listener;
      }
      return undefined;
    },
    equals: sameVersion,
  });
}
