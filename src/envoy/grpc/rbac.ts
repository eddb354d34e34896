import type { AuthorizationPolicy } from '#generated/config/specs.ts';
import type { envoy } from '#generated/proto/types.ts';
import type { Config } from '../../config/config.ts';
import { packed } from '../../proto/message.ts';
import { isDryRun, type RbacInput } from '../filters/rbac.ts';
import { quoteRegex } from '../filters/rbac-matchers.ts';
import { NEVER, rbacPolicy } from '../filters/rbac-rule.ts';
import type { TrustDomains } from '../filters/trust-domains.ts';

type Permission = envoy.config.rbac.v3.Permission;
type Policy = envoy.config.rbac.v3.Policy;
type HttpFilter = envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter;

const RBAC = 'envoy.extensions.filters.http.rbac.v3.RBAC';

/**
 * The filters by which a gRPC server enforces AuthorizationPolicies: gRPC knows what is denied and what is allowed. Policies
 * that only log, or ask somebody else, are not for it, nor are those on trial.
 *
 * @see https://github.com/grpc/proposal/blob/master/A41-xds-rbac.md
 * @see istio/istio pilot/pkg/networking/grpcgen/lds.go `buildRBAC`
 */
export function grpcRbacFilters({ policies, trustDomains }: RbacInput): readonly HttpFilter[] {
  const denied = entries(policies.deny, false, trustDomains);
  const allowing = policies.allow.filter((policy) => !isDryRun(policy));
  const allowed = entries(allowing, true, trustDomains);
  return [
    ...(denied.length === 0 ? [] : [filter('envoy.filters.http.rbac.DENY', { action: 'DENY', ...named(denied) })]),
    ...(allowing.length === 0 ? [] : [filter('envoy.filters.http.rbac', named(orNothing(allowed)))]),
  ];
}

type Entry = readonly [name: string, policy: Policy];

function entries(
  policies: readonly Config<AuthorizationPolicy>[],
  allow: boolean,
  trustDomains: TrustDomains,
): readonly Entry[] {
  return policies
    .filter((policy) => !isDryRun(policy))
    .flatMap(({ namespace, name, spec }) =>
      (spec.rules ?? []).flatMap((rule, i): Entry[] => {
        const policy = rbacPolicy({ rule, tcp: false, namespace, allow, trustDomains });
        return policy === undefined ? [] : [[`${namespace}-${name}-${i}`, withoutTemplates(policy)]];
      }),
    );
}

/** gRPC knows no path templates, and refuses a listener that has one: they are regular expressions to it. */
function withoutTemplates({ permissions = [], ...rest }: Policy): Policy {
  return { ...rest, permissions: permissions.map(asRegex) };
}

function asRegex(permission: Permission): Permission {
  const { andRules, orRules, notRule, uriTemplate } = permission;
  if (andRules !== undefined) return { andRules: { rules: (andRules.rules ?? []).map(asRegex) } };
  if (orRules !== undefined) return { orRules: { rules: (orRules.rules ?? []).map(asRegex) } };
  if (notRule !== undefined) return { notRule: asRegex(notRule) };
  if (uriTemplate === undefined) return permission;
  const template = String(uriTemplate.typedConfig?.['pathTemplate'] ?? '');
  const regex = template
    .split(/(\*\*|\*)/)
    .map((part) => ({ '*': '[^/]+', '**': '.*' })[part] ?? quoteRegex(part))
    .join('');
  return { urlPath: { path: { safeRegex: { regex } } } };
}

/** Where something is to be allowed and no rule says what, nothing is: a filter without policies would be none. */
function orNothing(allowed: readonly Entry[]): readonly Entry[] {
  return allowed.length > 0 ? allowed : [['nothing', NEVER]];
}

function named(all: readonly Entry[]): { readonly policies: Readonly<Record<string, Policy>> } {
  return { policies: Object.fromEntries(all) };
}

function filter(name: string, rules: envoy.config.rbac.v3.RBAC): HttpFilter {
  return { name, typedConfig: packed(RBAC, { rules }) };
}
