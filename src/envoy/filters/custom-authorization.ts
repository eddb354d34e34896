import type { AuthorizationPolicy } from '#generated/config/specs.ts';
import type { envoy } from '#generated/proto/types.ts';
import type { Config } from '../../config/config.ts';
import { type ExternalAuthorizer, httpExtAuthz, tcpExtAuthz } from './ext-authz.ts';
import { isDryRun, ruleSet } from './rbac.ts';
import type { TrustDomains } from './trust-domains.ts';

type Rbac = envoy.config.rbac.v3.RBAC;
type MetadataMatcher = envoy.type.matcher.v3.MetadataMatcher;
type NetworkFilter = envoy.config.listener.v3.Filter;
type HttpFilter = envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter;

/** What decides on requests that policies with action CUSTOM match. */
export interface CustomAuthorization {
  readonly policies: readonly Config<AuthorizationPolicy>[];
  /** By the name of the provider; one that is not there, or can not be asked, is absent. */
  readonly authorizers: ReadonlyMap<string, ExternalAuthorizer>;
  /** Policies of one workload may name different providers. */
  readonly several: boolean;
  readonly trustDomains: TrustDomains;
}

/** Rules that are only looked at leave the name of the one that matched in the metadata, where ext_authz finds it. */
const MATCH_PREFIX = 'istio-ext-authz';
const SHADOW_PREFIX = 'istio_ext_authz_';
const REFUSED = '-deny-due-to-bad-CUSTOM-action';

const RBAC_HTTP = 'envoy.filters.http.rbac';
const RBAC_NETWORK = 'envoy.filters.network.rbac';

/** The rules of one provider's policies. */
interface ProviderRules {
  readonly rules: Rbac;
  /** Undefined: it can not be asked, and what the rules match is refused. */
  readonly authorizer: ExternalAuthorizer | undefined;
  /** Of the metadata by which ext_authz sees that a rule of these matched. */
  readonly prefix: string;
}

function providerOf({ spec }: Config<AuthorizationPolicy>): string {
  return spec.provider?.name ?? '';
}

/** By the names of the providers. A dry run asks nobody: the answer could not be told from one that counts. */
function providerRules(input: CustomAuthorization, tcp: boolean): readonly ProviderRules[] {
  const enforced = input.policies.filter((policy) => !isDryRun(policy));
  const names = [...new Set(enforced.map(providerOf))].sort();
  return names.flatMap((name): readonly ProviderRules[] => {
    const prefix = name === '' ? MATCH_PREFIX : `${MATCH_PREFIX}-${name}`;
    const policies = enforced.filter((policy) => providerOf(policy) === name);
    const rules = ruleSet({ policies, action: 'DENY', tcp, trustDomains: input.trustDomains, prefix: `${prefix}-` });
    const authorizer = names.length > 1 && !input.several ? undefined : input.authorizers.get(name);
    return rules === undefined ? [] : [{ rules, authorizer, prefix }];
  });
}

function refusing({ action, policies = {} }: Rbac): Rbac {
  const named = Object.entries(policies).map(([name, policy]) => [`${name}${REFUSED}`, policy] as const);
  return { ...(action === undefined ? {} : { action }), policies: Object.fromEntries(named) };
}

function matched(filter: string, prefix: string): MetadataMatcher {
  return {
    filter,
    path: [{ key: `${SHADOW_PREFIX}shadow_effective_policy_id` }],
    value: { stringMatch: { prefix } },
  };
}

/**
 * The filters that have requests decided by somebody else.
 * @see istio/istio pilot/pkg/security/authz/builder/builder.go `buildHTTP`
 */
export function httpCustomFilters(input: CustomAuthorization): readonly HttpFilter[] {
  return providerRules(input, false).flatMap(({ rules, authorizer, prefix }): readonly HttpFilter[] => {
    const rbac = (config: object): HttpFilter => ({
      name: RBAC_HTTP,
      typedConfig: { '@type': 'type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBAC', ...config },
    });
    if (authorizer === undefined) return [rbac({ rules: refusing(rules) })];
    const shadow = rbac({ shadowRules: rules, shadowRulesStatPrefix: SHADOW_PREFIX });
    return [shadow, httpExtAuthz(authorizer, matched(RBAC_HTTP, prefix))];
  });
}

/** The same for connections, on which only an authorizer can decide that speaks gRPC: they are none of the others' concern. */
export function tcpCustomFilters(input: CustomAuthorization): readonly NetworkFilter[] {
  return providerRules(input, true).flatMap(({ rules, authorizer, prefix }): readonly NetworkFilter[] => {
    const rbac = (config: object): NetworkFilter => ({
      name: RBAC_NETWORK,
      typedConfig: {
        '@type': 'type.googleapis.com/envoy.extensions.filters.network.rbac.v3.RBAC',
        ...config,
        statPrefix: 'tcp.',
      },
    });
    if (authorizer === undefined) return [rbac({ rules: refusing(rules) })];
    const asked = tcpExtAuthz(authorizer, matched(RBAC_NETWORK, prefix));
    if (asked === undefined) return [];
    return [rbac({ shadowRules: rules, shadowRulesStatPrefix: SHADOW_PREFIX }), asked];
  });
}
