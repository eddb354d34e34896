import type { DestinationRule } from '#generated/config/specs.ts';
import { isWildcardHost } from '../../base/host.ts';
import { placeOf } from '../../config/finding.ts';
import { fullHostname } from '../virtual-service.ts';
import type { Analyzer } from './analyzer.ts';
import { labelText } from './names.ts';

/**
 * Subsets without a workload.
 *
 * @see istio/istio pkg/config/analysis/analyzers/destinationrule/subset.go
 */
export const EMPTY_SUBSETS: Analyzer<DestinationRule> = {
  kinds: ['DestinationRule'],
  *findings({ spec, namespace }, facts) {
    const { subsets = [] } = spec;
    const host = fullHostname(spec.host, namespace, facts.domainSuffix);
    if (subsets.length === 0 || isWildcardHost(host)) return;
    for (const [i, { name, labels = {} }] of subsets.entries()) {
      if (Object.keys(labels).length === 0 || facts.hasServer(host, namespace, labels)) continue;
      yield placeOf(['spec', 'subsets', i, 'labels']).warning(
        `no workload of "${host}", in files or connected, has the labels ${labelText(labels)}: requests to subset "${name}" fail`,
        'IST0173',
      );
    }
  },
};
