import type { AuthorizationPolicy } from '#generated/config/specs.ts';
import type { Config } from '../config/config.ts';

/** The AuthorizationPolicies of one workload by action, each in order: the root namespace's first, then oldest first. */
export interface AuthorizationPolicies {
  readonly custom: readonly Config<AuthorizationPolicy>[];
  readonly deny: readonly Config<AuthorizationPolicy>[];
  readonly allow: readonly Config<AuthorizationPolicy>[];
  readonly audit: readonly Config<AuthorizationPolicy>[];
}

export const NO_AUTHORIZATION_POLICIES: AuthorizationPolicies = { custom: [], deny: [], allow: [], audit: [] };

/** @param policies those that apply, in order */
export function authorizationPolicies(policies: readonly Config<AuthorizationPolicy>[]): AuthorizationPolicies {
  const withAction = (action: AuthorizationPolicy['action']) =>
    policies.filter((policy) => (policy.spec.action ?? 'ALLOW') === action);
  return {
    custom: withAction('CUSTOM'),
    deny: withAction('DENY'),
    allow: withAction('ALLOW'),
    audit: withAction('AUDIT'),
  };
}
