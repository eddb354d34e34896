import type { DestinationRule } from '#generated/config/specs.ts';
import { isSubsetOfHost, isWildcardHost } from '../../base/host.ts';
import { nearestName } from '../../base/nearest-name.ts';
import { placeOf } from '../../config/finding.ts';
import { fullHostname } from '../virtual-service.ts';
import type { Analyzer } from './analyzer.ts';

/** @see istio/istio pkg/config/analysis/analyzers/destinationrule/subset.go */
export const DESTINATION_RULE_HOST: Analyzer<DestinationRule> = {
  kinds: ['DestinationRule'],
  *findings({ spec, namespace }, facts) {
    const host = fullHostname(spec.host, namespace, facts.domainSuffix);
    const isKnown = isWildcardHost(host)
      ? facts.hostnames(namespace).some((name) => isSubsetOfHost(name, host))
      : facts.service(host, namespace) !== undefined;
    if (isKnown) return;
    const near = nearestName(spec.host, facts.hostnames(namespace));
    const hint = near === undefined ? '' : `; did you mean "${near}"?`;
    yield placeOf(['spec', 'host']).warning(
      `no service that namespace ${namespace} sees has the host "${host}", so the rule has no effect${hint}`,
      'IST0174',
    );
  },
};

/** What of a DestinationRule does not count because another one of the namespace for the same host says it, too. */
export const OVERLAPPING_RULES: Analyzer<DestinationRule> = {
  kinds: ['DestinationRule'],
  *findings({ key, spec }, facts) {
    const before = facts.rulesBefore(key);
    if (before.length === 0) return;
    const at = placeOf(['spec']);
    for (const [i, { name }] of (spec.subsets ?? []).entries()) {
      const first = before.find(({ subsets }) => subsets.includes(name));
      if (first === undefined) continue;
      yield at
        .at('subsets', i, 'name')
        .warning(`DestinationRule ${first.name} gives the same host a subset "${name}", which counts alone`, 'VM0203');
    }
    const policy = spec.trafficPolicy === undefined ? undefined : before.find(({ hasPolicy }) => hasPolicy);
    if (policy === undefined) return;
    yield at
      .at('trafficPolicy')
      .warning(`DestinationRule ${policy.name} has a policy for the same host, which counts alone`, 'VM0203');
  },
};
