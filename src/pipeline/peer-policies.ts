import { deepEqual } from '../base/equal.ts';
import type { Derived, Graph } from '../derive/graph.ts';
import { type PeerPolicy, peerPolicy } from '../model/authentication.ts';
import type { ProxyScope } from '../model/scope.ts';
import type { Mesh } from './mesh.ts';

/** What PeerAuthentications come to for a workload. */
export type PeerPolicies = Derived<ProxyScope, PeerPolicy>;

export function derivePeerPolicies(graph: Graph, mesh: Mesh): PeerPolicies {
  return graph.derived(
    'peerPolicy',
    ({ namespace, labels }) =>
      peerPolicy({
        root: mesh.peerAuthentications.get(''),
        namespace: namespace === mesh.rootNamespace() ? [] : mesh.peerAuthentications.get(namespace),
        labels,
      }),
    { equals: deepEqual },
  );
}
