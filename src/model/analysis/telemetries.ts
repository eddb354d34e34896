import type { Telemetry } from '#generated/config/specs.ts';
import { placeOf } from '../../config/finding.ts';
import type { Analyzer } from './analyzer.ts';
import { listed, objectName } from './names.ts';

const OUTCOME = 'the oldest counts, else the first by name';

/**
 * Several Telemetries for the same workloads: one of them counts.
 *
 * @see istio/istio pkg/config/analysis/analyzers/telemetry `default_selector.go`, `selector.go`
 */
export const TELEMETRY_SELECTORS: Analyzer<Telemetry> = {
  kinds: ['Telemetry'],
  *findings(config, facts) {
    const { spec, namespace, key } = config;
    if (spec.selector === undefined) {
      const twins = facts.selections('Telemetry', namespace).filter((other) => other.key !== key && !other.isSelective);
      if (twins.length === 0) return;
      const isForAll = spec.targetRef === undefined && spec.targetRefs === undefined;
      const rivals = twins.filter(({ isTargeted }) => !isTargeted);
      const at = placeOf(['metadata', 'name']);
      if (isForAll && rivals.length > 0) {
        const names = listed([objectName(config), ...rivals.map(({ name }) => name)]);
        yield at.error(
          `Telemetries ${names} are all for every workload of namespace ${namespace}: ${OUTCOME}; keep one`,
          'IST0160',
        );
      } else {
        const names = listed(twins.map(({ name }) => name));
        yield at.info(
          `Telemetry ${names} has no selector either: those with targetRefs are for these alone`,
          'IST0160',
        );
      }
      return;
    }
    const contested = facts.contested(key);
    if (contested === undefined) return;
    yield placeOf(['spec', 'selector', 'matchLabels']).error(
      `Telemetry ${listed(contested.others)} selects workload ${contested.workload}, too: ${OUTCOME}; keep one`,
      'IST0159',
    );
  },
};

/**
 * Access logs that go nowhere.
 *
 * @see istio/istio pkg/config/analysis/analyzers/telemetry/providers.go
 */
export const LOG_PROVIDERS: Analyzer<Telemetry> = {
  kinds: ['Telemetry'],
  *findings({ spec }, facts) {
    for (const [i, { disabled, providers = [] }] of (spec.accessLogging ?? []).entries()) {
      if (disabled === true || providers.length > 0 || facts.hasDefaultLogProvider()) continue;
      yield placeOf(['spec', 'accessLogging', i]).warning(
        'names no providers, and defaultProviders.accessLogging of mesh.yaml has none either: it is ignored; name one, as "envoy"',
        'IST0157',
      );
    }
  },
};
