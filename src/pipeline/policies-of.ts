import { sameItems } from '../base/equal.ts';
import { compareStrings } from '../base/order.ts';
import type { Config, ConfigKey } from '../config/config.ts';
import type { Derived, Graph } from '../derive/graph.ts';
import { isAttached, type TargetedSpec, targetsOf } from '../model/policy-attachment.ts';
import type { ProxyScope } from '../model/scope.ts';
import { type Mesh, ONE } from './mesh.ts';

/** Objects in order of age; those of one age by name. */
export function byAge(a: Config, b: Config): number {
  return a.creationTime - b.creationTime || compareStrings(a.name, b.name) || compareStrings(a.namespace, b.namespace);
}

type PolicyMesh = Pick<Mesh, 'byKind' | 'ofKindIn' | 'rootNamespace'>;

const NONE: readonly ConfigKey[] = [];

/**
 * Policies of a kind for a workload or gateway: those of its own namespace and of the root namespace, each oldest first. A mesh
 * without the kind looks at no proxy.
 */
export function derivePoliciesOf(
  graph: Graph,
  mesh: PolicyMesh,
  kind: string,
  order: 'root-first' | 'own-first',
): Pick<Derived<ProxyScope, readonly ConfigKey[]>, 'get'> {
  const exist = graph.derived<'', boolean>(`any${kind}`, () => mesh.byKind.get(kind).length > 0);
  /** Of a namespace, oldest first. */
  const policiesIn: Derived<string, readonly Config<TargetedSpec>[]> = graph.derived(
    `${kind}In`,
    (namespace) => [...mesh.ofKindIn<TargetedSpec>(kind, namespace)].sort(byAge),
    { equals: sameItems },
  );
  const policiesOf: Derived<ProxyScope, readonly ConfigKey[]> = graph.derived(
    `${kind}Of`,
    (scope) => {
      const root = mesh.rootNamespace();
      const namespaces = order === 'root-first' ? [root, scope.namespace] : [scope.namespace, root];
      return [...new Set(namespaces)]
        .flatMap((namespace) => policiesIn.get(namespace))
        .filter((policy) => isAttached(targetsOf(policy.namespace, policy.spec), scope))
        .map(({ key }) => key);
    },
    { equals: sameItems },
  );
  return { get: (scope) => (exist.get(ONE) ? policiesOf.get(scope) : NONE) };
}
