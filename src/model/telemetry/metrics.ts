import type { MetricSelector, Metrics, TagOverride } from '#generated/config/specs.ts';
import { compareStrings } from '../../base/order.ts';
import { modesOf, providerNames, type TrafficMode } from './mode.ts';

/** Istio's metrics, in the order in which they stand in filters. */
const METRICS = [
  'GRPC_REQUEST_MESSAGES',
  'GRPC_RESPONSE_MESSAGES',
  'REQUEST_COUNT',
  'REQUEST_DURATION',
  'REQUEST_SIZE',
  'RESPONSE_SIZE',
  'TCP_CLOSED_CONNECTIONS',
  'TCP_OPENED_CONNECTIONS',
  'TCP_RECEIVED_BYTES',
  'TCP_SENT_BYTES',
] as const;

/** One metric whose tags are others, or which is dropped. */
export interface MetricChange {
  /** One of `IstioMetric`, or the name of another metric. */
  readonly metric: string;
  readonly dropped: boolean;
  /** By name, with the CEL expression for their value; undefined: the tag is left out. */
  readonly tags: readonly (readonly [name: string, value: string | undefined])[];
}

/** What one provider is told of traffic. */
export interface MeasuredBy {
  readonly provider: string;
  readonly changes: readonly MetricChange[];
  /** In Go's notation. */
  readonly reportingInterval?: string;
}

interface Draft {
  dropped: boolean;
  readonly tags: Map<string, TagOverride>;
}

/** One provider while Telemetries are laid over one another. */
interface ProviderDraft {
  readonly metrics: Map<string, Draft>;
  off: boolean;
  reportingInterval?: string;
}

function isAll({ metric = 'ALL_METRICS', customMetric }: MetricSelector = {}): boolean {
  return customMetric === undefined && metric === 'ALL_METRICS';
}

function metricsOf(match: MetricSelector | undefined): readonly string[] {
  if (isAll(match)) return METRICS;
  return [match?.customMetric ?? match?.metric ?? ''];
}

function applied(provider: ProviderDraft, { overrides = [] }: Metrics, mode: TrafficMode): void {
  for (const { match, disabled, tagOverrides = {} } of overrides) {
    if (!modesOf(match).includes(mode)) continue;
    if (isAll(match) && disabled === true) {
      provider.off = true;
      continue;
    }
    // What a wider Telemetry has switched off, a narrower one that asks for something switches on again.
    provider.off = false;
    for (const name of metricsOf(match)) {
      const draft = provider.metrics.get(name) ?? { dropped: false, tags: new Map() };
      if (disabled !== undefined) draft.dropped = disabled;
      for (const [tag, override] of Object.entries(tagOverrides)) draft.tags.set(tag, override);
      provider.metrics.set(name, draft);
    }
  }
}

function finished(metrics: ReadonlyMap<string, Draft>): readonly MetricChange[] {
  return [...metrics]
    .map(([metric, { dropped, tags }]) => ({
      metric,
      dropped,
      tags: [...tags]
        .map(([name, { operation, value = '' }]) => [name, operation === 'REMOVE' ? undefined : value] as const)
        .sort(([a], [b]) => compareStrings(a, b)),
    }))
    .sort((a, b) => compareStrings(a.metric, b.metric));
}

/**
 * The providers that measure traffic, in order of names, without those that are switched off.
 *
 * @param specs `metrics` of the workload's Telemetries, wider ones first
 * @param defaults MeshConfig `defaultProviders.metrics`
 * @see istio/istio pilot/pkg/model/telemetry.go `mergeMetrics`
 */
export function metrics(
  specs: readonly Metrics[],
  defaults: readonly string[],
  mode: TrafficMode,
): readonly MeasuredBy[] {
  const drafts = new Map<string, ProviderDraft>();
  const draftOf = (provider: string): ProviderDraft => {
    const draft = drafts.get(provider) ?? { metrics: new Map(), off: false };
    drafts.set(provider, draft);
    return draft;
  };
  if (specs.length === 0) for (const name of defaults) draftOf(name);
  const inForce = new Set(
    specs.map(({ providers }) => providerNames(providers)).findLast((names) => names.length > 0) ?? defaults,
  );
  let inherited = defaults;
  for (const spec of specs) {
    const named = providerNames(spec.providers);
    inherited = named.length > 0 ? named : inherited;
    for (const name of inherited.filter((provider) => inForce.has(provider))) {
      const draft = draftOf(name);
      if (spec.reportingInterval !== undefined) draft.reportingInterval = spec.reportingInterval;
      applied(draft, spec, mode);
    }
  }
  return [...drafts]
    .filter(([, { off }]) => !off)
    .map(([provider, { metrics: changed, reportingInterval }]) => ({
      provider,
      changes: finished(changed),
      ...(reportingInterval === undefined ? {} : { reportingInterval }),
    }))
    .sort((a, b) => compareStrings(a.provider, b.provider));
}
