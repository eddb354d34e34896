import type { VirtualService } from '#generated/config/specs.ts';
import { placeOf } from '../../config/finding.ts';
import { fullHostname, gatewayKey, MESH_GATEWAY } from '../virtual-service.ts';
import type { Analyzer } from './analyzer.ts';
import type { RuleCondition } from './facts.ts';
import { listed } from './names.ts';
import { isCatchAll, ruleConditions } from './rule-conditions.ts';

/**
 * VirtualServices for sidecars that have a host in common: each sidecar takes the rules of one of them.
 *
 * @see istio/istio pkg/config/analysis/analyzers/virtualservice/conflictingmeshgatewayhosts.go
 */
export const SIDECAR_HOST_CONFLICTS: Analyzer<VirtualService> = {
  kinds: ['VirtualService'],
  *findings({ spec, namespace, key }, facts) {
    const gateways = spec.gateways ?? [];
    if (gateways.length > 0 && !gateways.includes(MESH_GATEWAY)) return;
    for (const [i, written] of (spec.hosts ?? []).entries()) {
      const host = fullHostname(written, namespace, facts.domainSuffix);
      const { same, overlapping } = facts.rivals(key, host);
      const place = placeOf(['spec', 'hosts', i]);
      if (same.length > 0) {
        const names = listed(same.map(({ name }) => name));
        const outcome = 'a sidecar takes those of one alone (private to its namespace, else the oldest, else by name)';
        yield place.error(
          `VirtualServices ${names} have the host "${host}" in common: ${outcome}; join them`,
          'IST0109',
        );
      } else if (overlapping.length > 0) {
        const names = listed(overlapping.map(({ name }) => name));
        const outcome = 'where a namespace sees both, the more specific one counts';
        yield place.warning(`"${host}" overlaps with hosts of VirtualService ${names}: ${outcome}`, 'IST0109');
      }
    }
  },
};

/** Whether every request that `b` takes is taken by `a`, which stands before it. Rules for all requests are tried last. */
function covers(a: RuleCondition, b: RuleCondition): boolean {
  if (a.rest !== b.rest) return false;
  if (a.prefix === b.prefix) return true;
  return a.prefix !== undefined && b.prefix?.startsWith(a.prefix) === true && !isCatchAll(a);
}

function conditionText({ prefix, rest }: RuleCondition): string {
  if (prefix === undefined) return rest;
  return rest === '{}' ? `paths below "${prefix}"` : `paths below "${prefix}" with ${rest}`;
}

/** Rules that a gateway never comes to, because another VirtualService for the same host takes their requests before. */
export const GATEWAY_RULE_CONFLICTS: Analyzer<VirtualService> = {
  kinds: ['VirtualService'],
  *findings({ spec, namespace, key }, facts) {
    const told = new Set<number>();
    for (const gateway of (spec.gateways ?? []).map((name) => gatewayKey(name, namespace))) {
      if (gateway === MESH_GATEWAY) continue;
      for (const written of spec.hosts ?? []) {
        const host = fullHostname(written, namespace, facts.domainSuffix);
        const before = facts.rulesTriedBefore(key, gateway, host);
        if (before.length === 0) continue;
        for (const [i, conditions] of ruleConditions(spec, gateway, namespace).entries()) {
          const takers = conditions.map((condition) =>
            before.find((rules) => rules.conditions.some((earlier) => covers(earlier, condition))),
          );
          const [first] = conditions;
          if (told.has(i) || first === undefined || takers.includes(undefined)) continue;
          told.add(i);
          const names = listed([...new Set(takers.flatMap((taker) => taker?.claim.name ?? []))]);
          const what = `the rule for ${conditionText(first)} is never reached for "${host}" on gateway ${gateway}`;
          yield placeOf(['spec', 'http', i]).warning(
            `${what}: VirtualService ${names} comes first, by age and name, and takes its requests`,
            'IST0130',
          );
        }
      }
    }
  },
};
