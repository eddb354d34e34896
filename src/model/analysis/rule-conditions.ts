import type { HTTPMatchRequest, VirtualService } from '#generated/config/specs.ts';
import { canonicalJson } from '../../base/intern.ts';
import { gatewayKey } from '../virtual-service.ts';
import type { RuleCondition } from './facts.ts';

const ALL: RuleCondition = { prefix: '/', rest: '{}' };

export function isCatchAll({ prefix, rest }: RuleCondition): boolean {
  return prefix === ALL.prefix && rest === ALL.rest;
}

function conditionOf({ name: _name, gateways: _gateways, statPrefix: _stat, uri, ...rest }: HTTPMatchRequest) {
  const prefix = uri === undefined ? ALL.prefix : uri.prefix;
  return { prefix, rest: canonicalJson(prefix === undefined ? { ...rest, uri } : rest) };
}

/** The conditions of each HTTP rule that count on a gateway (`namespace/name`); none: the rule does not. */
export function ruleConditions(
  { http = [] }: VirtualService,
  gateway: string,
  namespace: string,
): readonly (readonly RuleCondition[])[] {
  return http.map(({ match = [] }) => {
    if (match.length === 0) return [ALL];
    const counted = match.filter(
      ({ gateways = [] }) => gateways.length === 0 || gateways.some((name) => gatewayKey(name, namespace) === gateway),
    );
    return counted.map(conditionOf);
  });
}
