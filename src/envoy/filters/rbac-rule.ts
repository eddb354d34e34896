import type { Operation, Rule, Source } from '#generated/config/specs.ts';
import type { envoy } from '#generated/proto/types.ts';
import type { AttributeMatcher, Permission, Principal, RuleContext } from './rbac-attributes.ts';
import * as attribute from './rbac-attributes.ts';
import { expandedTrustDomains, principalsOfTrustDomains, type TrustDomains } from './trust-domains.ts';

type Policy = envoy.config.rbac.v3.Policy;

export interface RuleInput extends RuleContext {
  readonly rule: Rule;
  /**
   * An ALLOW rule is dropped whole when a part of it cannot be looked at; of others only that part is. Either way less is
   * let through than was meant, never more.
   */
  readonly allow: boolean;
  readonly trustDomains: TrustDomains;
}

/** One attribute with what it must be (one of `values`) and must not be (none of `notValues`). */
interface Term<T> {
  readonly matcher: AttributeMatcher<T>;
  readonly values: readonly string[];
  readonly notValues: readonly string[];
}

/** How matchers of one kind are combined. */
interface Combination<T> {
  readonly any: T;
  readonly and: (parts: readonly T[]) => T;
  readonly or: (parts: readonly T[]) => T;
  readonly not: (part: T) => T;
}

const PERMISSIONS: Combination<Permission> = {
  any: { any: true },
  and: (rules) => ({ andRules: { rules } }),
  or: (rules) => ({ orRules: { rules } }),
  not: (notRule) => ({ notRule }),
};

const PRINCIPALS: Combination<Principal> = {
  any: { any: true },
  and: (ids) => ({ andIds: { ids } }),
  or: (ids) => ({ orIds: { ids } }),
  not: (notId) => ({ notId }),
};

/** A policy that matches nothing: an ALLOW policy without rules lets nothing through. */
export const NEVER: Policy = {
  permissions: [PERMISSIONS.not(PERMISSIONS.any)],
  principals: [PRINCIPALS.not(PRINCIPALS.any)],
};

function term<T>(
  matcher: AttributeMatcher<T>,
  values: readonly string[] | undefined = [],
  notValues: readonly string[] | undefined = [],
): readonly Term<T>[] {
  return values.length === 0 && notValues.length === 0 ? [] : [{ matcher, values, notValues }];
}

/** Undefined: nothing to look at. Throws nothing: what cannot be looked at is `unreadable`. */
function alternatives<T>(
  matcher: AttributeMatcher<T>,
  values: readonly string[],
  { or }: Combination<T>,
  context: RuleContext,
): { readonly part: T | undefined; readonly unreadable: boolean } {
  if (values.length === 0) return { part: undefined, unreadable: false };
  if ('all' in matcher) {
    const part = matcher.all(values, context);
    return { part, unreadable: part === undefined };
  }
  const parts = values.flatMap((value) => matcher.each(value, context) ?? []);
  return { part: parts.length === 0 ? undefined : or(parts), unreadable: parts.length < values.length };
}

/** @returns undefined when the rule is to be dropped */
function conjunction<T>(terms: readonly Term<T>[], combination: Combination<T>, input: RuleInput): T | undefined {
  const parts: T[] = [];
  for (const { matcher, values, notValues } of terms) {
    const is = alternatives(matcher, values, combination, input);
    const isNot = alternatives(matcher, notValues, combination, input);
    if (input.allow && (is.unreadable || isNot.unreadable)) return undefined;
    if (is.part !== undefined) parts.push(is.part);
    if (isNot.part !== undefined) parts.push(combination.not(isNot.part));
  }
  return combination.and(parts.length === 0 ? [combination.any] : parts);
}

function operationTerms(operation: Operation): readonly Term<Permission>[] {
  return [
    ...term(attribute.hosts, operation.hosts, operation.notHosts),
    ...term(attribute.methods, operation.methods, operation.notMethods),
    ...term(attribute.paths, operation.paths, operation.notPaths),
    ...term(attribute.ports, operation.ports, operation.notPorts),
  ];
}

function sourceTerms(source: Source): readonly Term<Principal>[] {
  return [
    ...term(attribute.principals, source.principals, source.notPrincipals),
    ...term(attribute.requestPrincipals, source.requestPrincipals, source.notRequestPrincipals),
    ...term(attribute.serviceAccounts, source.serviceAccounts, source.notServiceAccounts),
    ...term(attribute.trustDomains, source.trustDomains, source.notTrustDomains),
    ...term(attribute.namespaces, source.namespaces, source.notNamespaces),
    ...term(attribute.remoteIpBlocks, source.remoteIpBlocks, source.notRemoteIpBlocks),
    ...term(attribute.ipBlocks, source.ipBlocks, source.notIpBlocks),
  ];
}

function inTrustDomains(principal: Term<Principal>, domains: TrustDomains): Term<Principal> {
  const change =
    principal.matcher === attribute.principals
      ? principalsOfTrustDomains
      : principal.matcher === attribute.trustDomains
        ? expandedTrustDomains
        : undefined;
  if (change === undefined) return principal;
  const { matcher, values, notValues } = principal;
  return { matcher, values: change(values, domains), notValues: change(notValues, domains) };
}

/**
 * One rule of an AuthorizationPolicy: any of its operations by any of its sources, under all of its conditions.
 *
 * @returns undefined when the rule cannot be enforced here and is dropped
 * @see istio/istio pilot/pkg/security/authz/model/model.go
 */
export function rbacPolicy(input: RuleInput): Policy | undefined {
  const { from = [], to = [], when = [] } = input.rule;
  const ofRequest: Term<Permission>[] = [];
  const ofSender: Term<Principal>[] = [];
  for (const { key, values, notValues } of when) {
    const looksAt = attribute.conditionAttribute(key);
    if (looksAt === undefined) return undefined;
    if ('permission' in looksAt) ofRequest.push(...term(looksAt.permission, values, notValues));
    else ofSender.push(...term(looksAt.principal, values, notValues));
  }
  const operations = to.length === 0 ? [{}] : to.map(({ operation }) => operation ?? {});
  const sources = from.length === 0 ? [{}] : from.map(({ source }) => source ?? {});
  const permissions = operations.map((operation) =>
    conjunction([...operationTerms(operation), ...ofRequest], PERMISSIONS, input),
  );
  const principals = sources.map((source) =>
    conjunction(
      [...sourceTerms(source), ...ofSender].map((entry) => inTrustDomains(entry, input.trustDomains)),
      PRINCIPALS,
      input,
    ),
  );
  const defined = <T>(part: T | undefined): part is T => part !== undefined;
  return permissions.every(defined) && principals.every(defined) ? { permissions, principals } : undefined;
}
