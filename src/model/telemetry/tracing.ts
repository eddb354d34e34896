import type { TelemetryTracing, TelemetryTracingCustomTag } from '#generated/config/specs.ts';
import { isAbout, type TrafficMode } from './mode.ts';

/** How traffic is traced. */
export interface TracedBy {
  /** Undefined: none is named, so that nothing is traced. */
  readonly provider: string | undefined;
  readonly disabled: boolean;
  /** Percent. Undefined: as the ProxyConfig says. */
  readonly sampling?: number;
  /** Empty: those of wider Telemetries are taken back, as if there were none. */
  readonly customTags?: Readonly<Record<string, TelemetryTracingCustomTag>>;
  readonly useRequestId: boolean;
  readonly istioTags: boolean;
  readonly propagates: boolean;
}

/**
 * What Telemetries say of traces. Each field is that of the last that has it.
 *
 * @param specs `tracing` of the workload's Telemetries, wider ones first
 * @param defaults MeshConfig `defaultProviders.tracing`, of which the first counts
 * @returns undefined where nothing says, so that MeshConfig's `enableTracing` counts
 * @see istio/istio pilot/pkg/model/telemetry.go `Tracing`
 */
export function tracing(
  specs: readonly TelemetryTracing[],
  defaults: readonly string[],
  mode: TrafficMode,
): TracedBy | undefined {
  if (specs.length === 0 && defaults.length === 0) return undefined;
  const about = specs.filter(({ match }) => isAbout(match, mode));
  const last = <K extends keyof TelemetryTracing>(name: K) =>
    about.findLast((spec) => spec[name] !== undefined)?.[name];
  const sampling = last('randomSamplingPercentage');
  const tags = last('customTags');
  return {
    provider: about.findLast(({ providers = [] }) => providers.length > 0)?.providers?.[0]?.name ?? defaults[0],
    disabled: last('disableSpanReporting') ?? false,
    ...(sampling === undefined ? {} : { sampling }),
    ...(tags === undefined ? {} : { customTags: tags }),
    useRequestId: last('useRequestIdForTraceSampling') ?? true,
    istioTags: last('enableIstioTags') ?? true,
    propagates: !(last('disableContextPropagation') ?? false),
  };
}
