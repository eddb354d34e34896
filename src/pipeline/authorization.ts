import type { AuthorizationPolicy } from '#generated/config/specs.ts';
import { sameItems } from '../base/equal.ts';
import { compareStrings } from '../base/order.ts';
import type { Config, ConfigKey } from '../config/config.ts';
import type { Derived, Graph } from '../derive/graph.ts';
import type { RbacInput } from '../envoy/filters/rbac.ts';
import type { TrustDomains } from '../envoy/filters/trust-domains.ts';
import { appliesToSidecar, authorizationPolicies } from '../model/authorization.ts';
import type { ProxyScope } from '../model/scope.ts';
import { type Mesh, ONE } from './mesh.ts';

/** The AuthorizationPolicies of workloads and gateways. */
export interface Authorization {
  /** The root namespace's first, then oldest first. */
  readonly policiesOf: Derived<ProxyScope, readonly ConfigKey[]>;
  /** What filters enforce. */
  input(policies: readonly ConfigKey[]): RbacInput;
}

function byAge(a: Config, b: Config): number {
  return a.creationTime - b.creationTime || compareStrings(a.name, b.name) || compareStrings(a.namespace, b.namespace);
}

export function deriveAuthorization(graph: Graph, mesh: Mesh): Authorization {
  /** Of a namespace, oldest first. */
  const policiesIn: Derived<string, readonly Config<AuthorizationPolicy>[]> = graph.derived(
    'authorizationPolicies',
    (namespace) => [...mesh.ofKindIn<AuthorizationPolicy>('AuthorizationPolicy', namespace)].sort(byAge),
    { equals: sameItems },
  );
  const policiesOf: Derived<ProxyScope, readonly ConfigKey[]> = graph.derived(
    'authorizationOf',
    ({ namespace, labels }) =>
      [...new Set([mesh.rootNamespace(), namespace])]
        .flatMap((from) => policiesIn.get(from))
        .filter((policy) => appliesToSidecar(policy, labels))
        .map(({ key }) => key),
    { equals: sameItems },
  );
  /** The mesh's own and its aliases. */
  const trustDomains: Derived<'', TrustDomains> = graph.derived(
    'trustDomains',
    () => [mesh.trustDomain(), ...(mesh.facet('trustDomainAliases') ?? [])],
    { equals: sameItems },
  );
  return {
    policiesOf,
    input: (policies) => ({
      policies: authorizationPolicies(policies.flatMap((key) => mesh.config<AuthorizationPolicy>(key) ?? [])),
      trustDomains: trustDomains.get(ONE),
    }),
  };
}
