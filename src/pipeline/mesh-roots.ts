import { sameItems } from '../base/equal.ts';
import type { Derived, Graph, Input } from '../derive/graph.ts';
import { type Mesh, ONE } from './mesh.ts';

/** Root certificates by which workloads verify each other, in PEM. */
export interface MeshRoots {
  /** Those of this control plane's authority; none where it has none. Set by whoever runs the process. */
  readonly own: Input<typeof ONE, readonly string[]>;
  /** These and MeshConfig's `caCertificates`, each once. */
  readonly all: Derived<typeof ONE, readonly string[]>;
}

/** @see istio/istio pilot/pkg/trustbundle/trustbundle.go */
export function deriveMeshRoots(graph: Graph, { facet }: Pick<Mesh, 'facet'>): MeshRoots {
  const own = graph.input<typeof ONE, readonly string[]>('ownRoots');
  const all = graph.derived<typeof ONE, readonly string[]>(
    'meshRoots',
    () => {
      const others = (facet('caCertificates') ?? []).flatMap(({ pem }) => (pem ? [pem] : []));
      return [...new Set([...(own.get(ONE) ?? []), ...others])];
    },
    { equals: sameItems },
  );
  return { own, all };
}
