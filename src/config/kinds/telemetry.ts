import type { AccessLogging, Metrics, Telemetry, TelemetryTracing } from '#generated/config/specs.ts';
import { celExpression } from '../../base/cel.ts';
import type { Finding, Place } from '../finding.ts';
import { defineKind, type KindDefinition } from '../kind.ts';
import { Telemetry as schema } from '../schema/telemetry.ts';
import { logFilterFindings } from './cel.ts';
import { targetedFindings } from './selectors.ts';

/** @see istio/istio pkg/config/validation/validation.go `validateTelemetryTracing` */
function* tracingFindings(at: Place, tracing: readonly TelemetryTracing[]): Generator<Finding> {
  if (tracing.length > 1) yield at.warning('only the first element has an effect');
  for (const [i, { providers = [], customTags = {} }] of tracing.entries()) {
    if (providers.length > 1) yield at.at(i, 'providers').warning('only the first provider has an effect');
    if (Object.hasOwn(customTags, '')) yield at.at(i, 'customTags').error('a tag needs a name');
  }
}

/** @see istio/istio pkg/config/validation/validation.go `validateTelemetryMetrics` */
function* metricsFindings(at: Place, metrics: readonly Metrics[]): Generator<Finding> {
  for (const [i, { overrides = [] }] of metrics.entries()) {
    for (const [j, { tagOverrides = {} }] of overrides.entries()) {
      for (const [name, { operation = 'UPSERT', value = '' }] of Object.entries(tagOverrides)) {
        const place = at.at(i, 'overrides', j, 'tagOverrides', name);
        if (name === '') yield place.warning('a tag needs a name');
        if (operation === 'UPSERT' && value === '') yield place.error('needs a "value", or "operation: REMOVE"');
        const { problem } = celExpression(value);
        if (operation === 'UPSERT' && value !== '' && problem !== undefined) {
          yield place.at('value').warning(`is no CEL, at character ${problem.column}: ${problem.message}`);
        }
        if (operation === 'REMOVE' && value !== '') yield place.at('value').error('a tag that is removed has no value');
      }
    }
  }
}

/** Waypoints, which alone have services and classes as targets, are not served. */
function* waypointFindings(at: Place, { targetRef, targetRefs = [] }: Telemetry): Generator<Finding> {
  const targets = [
    ...(targetRef === undefined ? [] : [[at.at('targetRef'), targetRef] as const]),
    ...targetRefs.map((target, i) => [at.at('targetRefs', i), target] as const),
  ];
  for (const [place, { kind }] of targets) {
    if (kind === 'Gateway') continue;
    yield place
      .at('kind')
      .warning(`only waypoints have a ${kind} as target, and these are not served: it has no effect`);
  }
}

function* loggingFindings(at: Place, logging: readonly AccessLogging[]): Generator<Finding> {
  for (const [i, { filter, providers = [] }] of logging.entries()) {
    if (filter === undefined) continue;
    yield* logFilterFindings(at.at(i, 'filter', 'expression'), filter.expression ?? '');
    if (providers.length > 0) continue;
    yield at.at(i, 'filter').warning('has no effect without providers beside it: write for which ones it is');
  }
}

export const TELEMETRY: KindDefinition<Telemetry> = defineKind({
  group: 'telemetry.istio.io',
  versions: ['v1', 'v1alpha1'],
  kind: 'Telemetry',
  plural: 'telemetries',
  scope: 'Namespaced',
  specField: 'spec',
  schema,
  *validate({ spec, at }) {
    yield* targetedFindings(at(), spec);
    yield* waypointFindings(at(), spec);
    yield* tracingFindings(at('tracing'), spec.tracing ?? []);
    yield* metricsFindings(at('metrics'), spec.metrics ?? []);
    yield* loggingFindings(at('accessLogging'), spec.accessLogging ?? []);
  },
});
