import type { AuthorizationPolicy, RequestAuthentication } from '#generated/config/specs.ts';
import { deepEqual, sameItems } from '../base/equal.ts';
import { compareStrings } from '../base/order.ts';
import type { Config, ConfigKey } from '../config/config.ts';
import type { Derived, Graph } from '../derive/graph.ts';
import type { AccessPolicies } from '../envoy/filters/access-policies.ts';
import type { ExternalAuthorizer } from '../envoy/filters/ext-authz.ts';
import type { JwtRule } from '../envoy/filters/jwt-authn.ts';
import type { TrustDomains } from '../envoy/filters/trust-domains.ts';
import { authorizationPolicies } from '../model/authorization.ts';
import type { ProxyScope } from '../model/scope.ts';
import { externalAuthorizer } from './authorizers.ts';
import { type Mesh, ONE } from './mesh.ts';
import { derivePoliciesOf } from './policies-of.ts';

/** The policies of one workload, by key. */
export interface AccessKeys {
  /** AuthorizationPolicies, the root namespace's first, then oldest first. */
  readonly authorization: readonly ConfigKey[];
  /** RequestAuthentications, those of the workload's own namespace first, then oldest first. */
  readonly tokens: readonly ConfigKey[];
}

export interface Access {
  /** The policies of a workload or gateway. */
  keysOf(scope: ProxyScope): AccessKeys;
  /** What filters enforce of them. */
  policies(keys: AccessKeys): AccessPolicies;
}

/** Rules of all policies, by issuer. @see istio/istio pilot/pkg/security/authn/policy_applier.go `newPolicyApplier` */
function byIssuer({ rule: a }: JwtRule, { rule: b }: JwtRule): number {
  return compareStrings(a.issuer ?? '', b.issuer ?? '');
}

const NO_AUTHORIZERS: ReadonlyMap<string, ExternalAuthorizer> = new Map();

export function deriveAccess(graph: Graph, mesh: Mesh): Access {
  const authorization = derivePoliciesOf(graph, mesh, 'AuthorizationPolicy', 'root-first');
  const tokens = derivePoliciesOf(graph, mesh, 'RequestAuthentication', 'own-first');
  /** The mesh's own and its aliases. */
  const trustDomains: Derived<'', TrustDomains> = graph.derived(
    'trustDomains',
    () => [mesh.trustDomain(), ...(mesh.facet('trustDomainAliases') ?? [])],
    { equals: sameItems },
  );
  /** Of a name in mesh.yaml; undefined when there is none, or several, or it can not be asked. */
  const authorizer: Derived<string, ExternalAuthorizer | undefined> = graph.derived(
    'authorizer',
    (name) => {
      const found = externalAuthorizer(name, mesh);
      return 'problem' in found ? undefined : found;
    },
    { equals: deepEqual },
  );
  const authorizersOf = (policies: readonly Config<AuthorizationPolicy>[]): AccessPolicies['custom']['authorizers'] => {
    if (policies.length === 0) return NO_AUTHORIZERS;
    const names = new Set(policies.map(({ spec }) => spec.provider?.name ?? ''));
    return new Map(
      [...names].flatMap((name) => {
        const found = authorizer.get(name);
        return found === undefined ? [] : [[name, found] as const];
      }),
    );
  };
  const { severalAuthorizers } = mesh.options.listeners;
  return {
    keysOf: (scope) => ({ authorization: authorization.get(scope), tokens: tokens.get(scope) }),
    policies: (keys) => {
      const { custom, ...others } = authorizationPolicies(
        keys.authorization.flatMap((key) => mesh.config<AuthorizationPolicy>(key) ?? []),
      );
      const domains = trustDomains.get(ONE);
      const rules = keys.tokens
        .flatMap((key) => mesh.config<RequestAuthentication>(key)?.spec.jwtRules ?? [])
        .map((rule): JwtRule => ({ rule, keys: mesh.keySets.keysOf(rule) }));
      return {
        authorization: { policies: others, trustDomains: domains },
        custom: {
          policies: custom,
          authorizers: authorizersOf(custom),
          several: severalAuthorizers,
          trustDomains: domains,
        },
        tokens: rules.sort(byIssuer),
      };
    },
  };
}
