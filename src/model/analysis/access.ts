import type { AuthorizationPolicy, RequestAuthentication } from '#generated/config/specs.ts';
import type { Labels } from '../../base/labels.ts';
import { placeOf } from '../../config/finding.ts';
import type { Analyzer } from './analyzer.ts';

/** Rules whose keys can not be fetched. */
export const KEY_SETS: Analyzer<RequestAuthentication> = {
  kinds: ['RequestAuthentication'],
  *findings({ spec }, facts) {
    for (const [i, rule] of (spec.jwtRules ?? []).entries()) {
      const set = facts.keySet(rule);
      if (set?.problem === undefined) continue;
      const outcome =
        set.keys === undefined
          ? 'no token of this rule is accepted until it answers with keys'
          : 'the keys that were fetched before are used';
      const field = (rule.jwksUri ?? '') === '' ? 'issuer' : 'jwksUri';
      yield placeOf(['spec', 'jwtRules', i, field]).warning(`${set.problem}; ${outcome}`, 'VM0213');
    }
  },
};

/** Whether some workload could have the labels of both. */
function canMeet(a: Labels, b: Labels): boolean {
  return Object.entries(a).every(([key, value]) => b[key] === undefined || b[key] === value);
}

/** Policies that ask whom nobody can ask, though there is somebody of that name. */
export const AUTHORIZERS: Analyzer<AuthorizationPolicy> = {
  kinds: ['AuthorizationPolicy'],
  *findings({ spec, namespace }, facts) {
    if (spec.action !== 'CUSTOM') return;
    const own = spec.provider?.name ?? '';
    const place = placeOf(['spec', 'provider', 'name']);
    const problem = facts.providers().includes(own) ? facts.authorizerProblem(own) : undefined;
    if (problem !== undefined) yield place.warning(`${problem}: what the rules match is refused`, 'VM0214');
    if (facts.severalAuthorizers()) return;
    const labels = spec.selector?.matchLabels ?? {};
    const others = [...new Set([namespace, facts.rootNamespace()])].flatMap((from) => facts.customPolicies(from));
    const other = others.find(({ provider, labels: theirs }) => provider !== own && canMeet(labels, theirs));
    if (other === undefined) return;
    yield place.warning(
      `AuthorizationPolicy "${other.name}" asks "${other.provider}": workloads that both are for refuse what either ` +
        'matches; name one provider, or set PILOT_ENABLE_MULTIPLE_CUSTOM_AUTHZ_PROVIDERS',
      'VM0214',
    );
  },
};
