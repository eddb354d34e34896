import type {
  ExtensionProvider,
  Tracing as ProxyTracing,
  TelemetryTracingCustomTag,
  TracingCustomTag,
} from '#generated/config/specs.ts';
import type { envoy } from '#generated/proto/types.ts';
import { compareStrings } from '../../base/order.ts';
import type { TracedBy } from '../../model/telemetry/tracing.ts';
import { type TracerInput, tracerOf } from './tracers.ts';

type Tracing = envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager.Tracing;
type CustomTag = envoy.type.tracing.v3.CustomTag;

/** Who the traced workload is, in the words of its traces. */
export interface TracedWorkload {
  readonly canonicalService: string;
  readonly canonicalRevision: string;
  readonly meshId: string;
  readonly namespace: string;
  readonly clusterId: string;
}

export interface TracingInput {
  /** Of the ProxyConfig that holds for the proxy. */
  readonly proxy: ProxyTracing | undefined;
  /** Percent of requests of which a trace is begun, unless the ProxyConfig says otherwise. */
  readonly defaultSampling: number;
  readonly workload: TracedWorkload;
}

/** How a connection manager traces requests. */
export interface HttpTracing {
  /** Undefined: it does not. */
  readonly tracing?: Tracing;
  /** Whether a request is traced stands in its id, so that all who see it decide alike. */
  readonly useRequestId: boolean;
}

export const UNTRACED: HttpTracing = { useRequestId: true };

/** Since which minor version proxies understand a field. @see istio/istio pilot/pkg/networking/core/tracing.go */
const FORMATTED_TAGS_SINCE = 29;
const PROPAGATION_SINCE = 30;

/** Beyond 100 percent nothing is meant; as one percent is taken, like the default of Istio. */
const SAMPLING_OUT_OF_RANGE = 1;

function literal(tag: string, value: string): CustomTag {
  return { tag, literal: { value } };
}

function workloadTags(workload: TracedWorkload): readonly CustomTag[] {
  return [
    literal('istio.canonical_revision', workload.canonicalRevision || 'latest'),
    literal('istio.canonical_service', workload.canonicalService || 'unknown'),
    literal('istio.mesh_id', workload.meshId || 'unknown'),
    literal('istio.namespace', workload.namespace || 'default'),
    literal('istio.cluster_id', workload.clusterId || 'unknown'),
  ];
}

/** The verdict of a dry run of authorization, which its filter leaves in the metadata. */
function dryRunTag(action: 'allow' | 'deny', part: 'name' | 'result'): CustomTag {
  const key = part === 'name' ? 'shadow_effective_policy_id' : 'shadow_engine_result';
  return {
    tag: `istio.authorization.dry_run.${action}_policy.${part}`,
    metadata: {
      kind: { request: {} },
      metadataKey: { key: 'envoy.filters.http.rbac', path: [{ key: `istio_dry_run_${action}_${key}` }] },
    },
  };
}

const DRY_RUN_TAGS: readonly CustomTag[] = [
  dryRunTag('allow', 'name'),
  dryRunTag('allow', 'result'),
  dryRunTag('deny', 'name'),
  dryRunTag('deny', 'result'),
];

function customTag(tag: string, value: TelemetryTracingCustomTag | TracingCustomTag): readonly CustomTag[] {
  if (value.literal !== undefined) return [literal(tag, value.literal.value ?? '')];
  if (value.environment !== undefined) {
    const { name, defaultValue } = value.environment;
    return [{ tag, environment: { name, defaultValue } }];
  }
  if (value.header !== undefined) {
    const { name, defaultValue } = value.header;
    return [{ tag, requestHeader: { name, defaultValue } }];
  }
  return 'formatter' in value && value.formatter !== undefined ? [{ tag, value: value.formatter.value }] : [];
}

function samplingOf({ proxy, defaultSampling }: TracingInput): number {
  const sampling = proxy?.sampling ?? 0;
  if (sampling === 0) return defaultSampling;
  return sampling > 100 ? SAMPLING_OUT_OF_RANGE : sampling;
}

/** Fields that every kind of tracing has. */
function commonTracing(
  sampling: number,
  tags: Readonly<Record<string, TelemetryTracingCustomTag | TracingCustomTag>>,
  istioTags: readonly CustomTag[],
): Tracing {
  const ownTags = Object.entries(tags).flatMap(([tag, value]) => customTag(tag, value));
  const customTags = [...istioTags, ...ownTags].sort((a, b) => compareStrings(a.tag ?? '', b.tag ?? ''));
  return {
    clientSampling: { value: 100 },
    overallSampling: { value: 100 },
    randomSampling: { value: sampling },
    ...(customTags.length > 0 ? { customTags } : {}),
  };
}

function istioTags(workload: TracedWorkload): readonly CustomTag[] {
  return [...workloadTags(workload), ...DRY_RUN_TAGS];
}

/**
 * Tracing as MeshConfig's `defaultConfig.tracing` asks for it; where spans are sent stands in the bootstrap.
 * @see istio/istio pilot/pkg/networking/core/tracing.go
 */
export function proxyTracing(input: TracingInput): Tracing {
  const { proxy, workload } = input;
  const tags = (proxy?.enableIstioTags ?? true) ? istioTags(workload) : [];
  return {
    ...commonTracing(samplingOf(input), proxy?.customTags ?? {}, tags),
    ...(proxy?.maxPathTagLength ? { maxPathTagLength: proxy.maxPathTagLength } : {}),
  };
}

/**
 * Tracing as Telemetries and default providers ask for it. What they do not say of sampling, tags and lengths, the ProxyConfig
 * says.
 *
 * @param provider that `tracedBy` names; undefined where there is none
 * @see istio/istio pilot/pkg/networking/core/tracing.go `configureTracingFromTelemetry`
 */
export function telemetryTracing(
  tracedBy: TracedBy,
  provider: ExtensionProvider | undefined,
  input: TracingInput & TracerInput,
): HttpTracing {
  const tracer = provider && !tracedBy.disabled ? tracerOf(provider, input) : undefined;
  if (tracer === undefined) return UNTRACED;
  const { proxy, workload, client } = input;
  const asked = Object.entries(tracedBy.customTags ?? {});
  const tags = (asked.length > 0 ? asked : Object.entries(proxy?.customTags ?? {})).filter(
    ([, tag]) => !('formatter' in tag) || client.minorVersion >= FORMATTED_TAGS_SINCE,
  );
  const sampling = tracer.samples ? 100 : (tracedBy.sampling ?? samplingOf(input));
  const maxPathTagLength = tracer.maxTagLength || proxy?.maxPathTagLength;
  const tracing: Tracing = {
    ...commonTracing(sampling, Object.fromEntries(tags), tracedBy.istioTags ? istioTags(workload) : []),
    provider: tracer.provider,
    ...(tracer.spawnsUpstreamSpan ? { spawnUpstreamSpan: true } : {}),
    ...(maxPathTagLength ? { maxPathTagLength } : {}),
    ...(tracedBy.propagates || client.minorVersion < PROPAGATION_SINCE ? {} : { noContextPropagation: true }),
  };
  return { tracing, useRequestId: tracedBy.useRequestId };
}
