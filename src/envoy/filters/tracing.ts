import type { Tracing as ProxyTracing, TracingCustomTag } from '#generated/config/specs.ts';
import type { envoy } from '#generated/proto/types.ts';
import { compareStrings } from '../../base/order.ts';

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

function customTag(tag: string, value: TracingCustomTag): readonly CustomTag[] {
  if (value.literal !== undefined) return [literal(tag, value.literal.value ?? '')];
  if (value.environment !== undefined) {
    const { name, defaultValue } = value.environment;
    return [{ tag, environment: { name, defaultValue } }];
  }
  if (value.header === undefined) return [];
  const { name, defaultValue } = value.header;
  return [{ tag, requestHeader: { name, defaultValue } }];
}

function samplingOf({ proxy, defaultSampling }: TracingInput): number {
  const sampling = proxy?.sampling ?? 0;
  if (sampling === 0) return defaultSampling;
  return sampling > 100 ? SAMPLING_OUT_OF_RANGE : sampling;
}

/**
 * Tracing as MeshConfig's `defaultConfig.tracing` asks for it; where spans are sent stands in the bootstrap.
 * @see istio/istio pilot/pkg/networking/core/tracing.go
 */
export function proxyTracing(input: TracingInput): Tracing {
  const { proxy, workload } = input;
  const istioTags = (proxy?.enableIstioTags ?? true) ? [...workloadTags(workload), ...DRY_RUN_TAGS] : [];
  const ownTags = Object.entries(proxy?.customTags ?? {}).flatMap(([tag, value]) => customTag(tag, value));
  const customTags = [...istioTags, ...ownTags].sort((a, b) => compareStrings(a.tag ?? '', b.tag ?? ''));
  return {
    clientSampling: { value: 100 },
    overallSampling: { value: 100 },
    randomSampling: { value: samplingOf(input) },
    ...(customTags.length > 0 ? { customTags } : {}),
    ...(proxy?.maxPathTagLength ? { maxPathTagLength: proxy.maxPathTagLength } : {}),
  };
}
