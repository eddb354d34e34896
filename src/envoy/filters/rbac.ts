import type { AuthorizationPolicy } from '#generated/config/specs.ts';
import type { envoy } from '#generated/proto/types.ts';
import type { Config } from '../../config/config.ts';
import type { AuthorizationPolicies } from '../../model/authorization.ts';
import { NEVER, rbacPolicy } from './rbac-rule.ts';
import type { TrustDomains } from './trust-domains.ts';

type Rbac = envoy.config.rbac.v3.RBAC;
type NetworkFilter = envoy.config.listener.v3.Filter;
type HttpFilter = envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter;

export interface RbacInput {
  readonly policies: Omit<AuthorizationPolicies, 'custom'>;
  /** The mesh's trust domain, then its aliases. */
  readonly trustDomains: TrustDomains;
}

export interface RuleSetInput {
  readonly policies: readonly Config<AuthorizationPolicy>[];
  readonly action: Action;
  /** For connections, of which nothing of HTTP is known. */
  readonly tcp: boolean;
  readonly trustDomains: TrustDomains;
  /** Put before the names of rules. */
  readonly prefix?: string;
}

const DRY_RUN = 'istio.io/dry-run';
/** Go's strconv.ParseBool. */
const TRUE = new Set(['1', 't', 'T', 'TRUE', 'true', 'True']);

type Action = 'ALLOW' | 'DENY' | 'LOG';

/** Names under which the verdict of a dry run stands in the metadata, where tracing looks for it. */
const SHADOW_PREFIX: Readonly<Record<Action, string>> = {
  ALLOW: 'istio_dry_run_allow_',
  DENY: 'istio_dry_run_deny_',
  LOG: '',
};

interface RuleSets {
  readonly rules: Rbac | undefined;
  readonly shadowRules: Rbac | undefined;
  readonly shadowRulesStatPrefix: string;
}

/** Its verdict is only logged. */
export function isDryRun({ annotations }: Config): boolean {
  return TRUE.has(annotations[DRY_RUN] ?? '');
}

/** `ns[shop]-policy[db]-rule[0]`, the name of a rule in statistics and logs. */
function ruleName({ namespace, name }: Config, index: number): string {
  return `ns[${namespace}]-policy[${name}]-rule[${index}]`;
}

/** Undefined without policies. A policy without rules gives one that never matches. */
export function ruleSet({ policies, action, tcp, trustDomains, prefix = '' }: RuleSetInput): Rbac | undefined {
  if (policies.length === 0) return undefined;
  const entries = policies.flatMap((policy) => {
    const rules = policy.spec.rules ?? [];
    if (rules.length === 0) return [[prefix + ruleName(policy, 0), NEVER] as const];
    return rules.flatMap((rule, i) => {
      const enforced = rbacPolicy({ rule, tcp, namespace: policy.namespace, allow: action === 'ALLOW', trustDomains });
      return enforced === undefined ? [] : [[prefix + ruleName(policy, i), enforced] as const];
    });
  });
  return {
    ...(action === 'ALLOW' ? {} : { action }),
    ...(entries.length === 0 ? {} : { policies: Object.fromEntries(entries) }),
  };
}

/** In the order in which they are looked at: what is only logged, then what is denied, then what is allowed. */
function ruleSets({ policies, trustDomains }: RbacInput, tcp: boolean): readonly RuleSets[] {
  const byAction: readonly (readonly [Action, readonly Config<AuthorizationPolicy>[]])[] = [
    ['LOG', policies.audit],
    ['DENY', policies.deny],
    ['ALLOW', policies.allow],
  ];
  return byAction
    .filter(([, all]) => all.length > 0)
    .map(([action, all]) => {
      const set = (dryRun: boolean) => {
        const those = all.filter((policy) => isDryRun(policy) === dryRun);
        return ruleSet({ policies: those, action, tcp, trustDomains });
      };
      const shadowRules = set(true);
      return {
        rules: set(false),
        shadowRules,
        shadowRulesStatPrefix: SHADOW_PREFIX[shadowRules === undefined ? 'ALLOW' : action],
      };
    });
}

/**
 * The filters that enforce AuthorizationPolicies on HTTP requests, but those with action CUSTOM.
 * @see istio/istio pilot/pkg/security/authz/builder/builder.go
 */
export function httpRbacFilters(input: RbacInput): readonly HttpFilter[] {
  return ruleSets(input, false).map((sets) => ({
    name: 'envoy.filters.http.rbac',
    typedConfig: { '@type': 'type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBAC', ...sets },
  }));
}

/** The same on TCP connections: rules that need HTTP are dropped, or stripped of what needs it. */
export function tcpRbacFilters(input: RbacInput): readonly NetworkFilter[] {
  return ruleSets(input, true).map((sets) => ({
    name: 'envoy.filters.network.rbac',
    typedConfig: {
      '@type': 'type.googleapis.com/envoy.extensions.filters.network.rbac.v3.RBAC',
      ...sets,
      statPrefix: 'tcp.',
    },
  }));
}
