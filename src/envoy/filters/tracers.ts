import type {
  DynatraceSampler,
  ExtensionProvider,
  HttpHeader,
  OpenTelemetryTracingProvider,
  ZipkinTracingProvider,
} from '#generated/config/specs.ts';
import type { envoy } from '#generated/proto/types.ts';
import { protoDuration } from '../../base/proto-duration.ts';
import { packed } from '../../proto/message.ts';
import type { FindService, ProviderService } from './provider-service.ts';

type HttpService = envoy.config.core.v3.HttpService;
type HeaderValue = envoy.config.core.v3.HeaderValue;
type TypedExtensionConfig = envoy.config.core.v3.TypedExtensionConfig;
type TracingProvider = envoy.config.trace.v3.Tracing.Http;

/** What of a proxy counts for its tracer. */
export interface TracerClient {
  /** Spans of what it calls are its own, not the caller's. */
  readonly gateway: boolean;
  /** Minor version of Istio that the proxy says it is of; a large number where it does not say. */
  readonly minorVersion: number;
  /** The service whose spans these are: the node's cluster. */
  readonly service: string;
  /** The same by the conventions of OpenTelemetry. */
  readonly conventionalService: string;
}

export interface TracerInput {
  readonly client: TracerClient;
  readonly find: FindService;
  /** A variable of the control plane's environment; empty where it is not set. */
  readonly variable: (name: string) => string;
}

/** A tracer as connection managers name it. */
export interface Tracer {
  readonly provider: TracingProvider;
  /** 0: as the ProxyConfig says. */
  readonly maxTagLength: number;
  readonly spawnsUpstreamSpan: boolean;
  /** It chooses by itself what is traced, so that all has to come to it. */
  readonly samples: boolean;
}

/** Since which minor version proxies understand a field. @see istio/istio pilot/pkg/networking/core/tracing.go */
const CONTEXT_OPTION_SINCE = 28;
const COLLECTOR_SERVICE_SINCE = 29;

function headerOf({ name = '', value, envName }: HttpHeader, { variable }: TracerInput): HeaderValue {
  return { key: name, value: value ?? (envName === undefined ? '' : variable(envName)) };
}

function headersToAdd(
  headers: readonly HttpHeader[] = [],
  input: TracerInput,
): Pick<HttpService, 'requestHeadersToAdd'> {
  if (headers.length === 0) return {};
  return {
    requestHeadersToAdd: headers.map((header) => ({
      appendAction: 'OVERWRITE_IF_EXISTS_OR_ADD',
      header: headerOf(header, input),
    })),
  };
}

/** A host and a path in one, without a scheme; empty parts and dots are resolved. */
function joined(host: string, path: string): string {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  const end = path.endsWith('/') ? '/' : '';
  return [host, ...parts].join('/') + end;
}

/** Envoy refuses a place without a time limit. Zipkin's is Istio's default, the other that of OpenTelemetry's protocol. */
const ZIPKIN_TIMEOUT = '5s';
const OTLP_TIMEOUT = '10s';

interface HttpExport {
  readonly timeout?: string;
  readonly headers?: readonly HttpHeader[];
}

function httpService(
  uri: string,
  cluster: string,
  { timeout = OTLP_TIMEOUT, headers }: HttpExport,
  input: TracerInput,
) {
  return { httpUri: { uri, cluster, timeout: protoDuration(timeout) }, ...headersToAdd(headers, input) };
}

function zipkin(
  settings: ZipkinTracingProvider,
  { hostname, cluster }: ProviderService,
  input: TracerInput,
): TracingProvider {
  const { minorVersion } = input.client;
  const path = settings.path || '/api/v2/spans';
  const timed = { ...settings, timeout: settings.timeout ?? ZIPKIN_TIMEOUT };
  const collector =
    minorVersion >= COLLECTOR_SERVICE_SINCE
      ? { collectorService: httpService(`http://${hostname}${path}`, cluster, timed, input) }
      : { collectorCluster: cluster, collectorEndpoint: path, collectorHostname: hostname };
  return {
    name: 'envoy.tracers.zipkin',
    typedConfig: packed('envoy.config.trace.v3.ZipkinConfig', {
      collectorEndpointVersion: 'HTTP_JSON',
      ...(settings.enable64bitTraceId ? {} : { traceId128bit: true }),
      sharedSpanContext: false,
      ...collector,
      ...(minorVersion >= CONTEXT_OPTION_SINCE && settings.traceContextOption !== undefined
        ? { traceContextOption: settings.traceContextOption }
        : {}),
    }),
  };
}

const ENVIRONMENT_DETECTOR: TypedExtensionConfig = {
  name: 'envoy.tracers.opentelemetry.resource_detectors.environment',
  typedConfig: packed(
    'envoy.extensions.tracers.opentelemetry.resource_detectors.v3.EnvironmentResourceDetectorConfig',
    {},
  ),
};
const DYNATRACE_DETECTOR: TypedExtensionConfig = {
  name: 'envoy.tracers.opentelemetry.resource_detectors.dynatrace',
  typedConfig: packed(
    'envoy.extensions.tracers.opentelemetry.resource_detectors.v3.DynatraceResourceDetectorConfig',
    {},
  ),
};

function detectors({ resourceDetectors, serviceAttributeEnrichment }: OpenTelemetryTracingProvider) {
  const conventional = serviceAttributeEnrichment === 'OTEL_SEMANTIC_CONVENTIONS';
  const environment = resourceDetectors?.environment !== undefined;
  return [
    ...(environment ? [ENVIRONMENT_DETECTOR] : []),
    ...(resourceDetectors?.dynatrace !== undefined ? [DYNATRACE_DETECTOR] : []),
    // Conventional names may come from the environment, too.
    ...(conventional && !environment ? [ENVIRONMENT_DETECTOR] : []),
  ];
}

/**
 * Without an API of its own the sampler asks at the place where spans are sent over HTTP.
 * @returns undefined when there is no such place
 */
function dynatraceSampler(
  { tenant, clusterId, rootSpansPerMinute, httpService: api }: DynatraceSampler,
  { http }: OpenTelemetryTracingProvider,
  exporter: ProviderService,
  input: TracerInput,
): TypedExtensionConfig | undefined {
  const settings = api === undefined ? http : (api.http ?? {});
  const target = api === undefined ? exporter : input.find(api.service ?? '', api.port ?? 0);
  if (settings === undefined || target === undefined) return undefined;
  const path = api === undefined ? 'api/v2/samplingConfiguration' : (settings.path ?? '');
  return {
    name: 'envoy.tracers.opentelemetry.samplers.dynatrace',
    typedConfig: packed('envoy.extensions.tracers.opentelemetry.samplers.v3.DynatraceSamplerConfig', {
      tenant,
      clusterId,
      rootSpansPerMinute,
      httpService: httpService(joined(target.hostname, path), target.cluster, settings, input),
    }),
  };
}

function openTelemetry(
  settings: OpenTelemetryTracingProvider,
  found: ProviderService,
  input: TracerInput,
): TracingProvider | undefined {
  const { http, grpc, dynatraceSampler: sampling } = settings;
  const { hostname, cluster } = found;
  const sampler = sampling && dynatraceSampler(sampling, settings, found, input);
  if (sampling !== undefined && sampler === undefined) return undefined;
  const conventional = settings.serviceAttributeEnrichment === 'OTEL_SEMANTIC_CONVENTIONS';
  const initialMetadata = (grpc?.initialMetadata ?? []).map((header) => headerOf(header, input));
  const exporter =
    http === undefined
      ? {
          grpcService: {
            envoyGrpc: { clusterName: cluster, authority: hostname },
            ...(grpc?.timeout === undefined ? {} : { timeout: protoDuration(grpc.timeout) }),
            ...(initialMetadata.length > 0 ? { initialMetadata } : {}),
          },
        }
      : { httpService: httpService(joined(hostname, http.path ?? ''), cluster, http, input) };
  const resourceDetectors = detectors(settings);
  return {
    name: 'envoy.tracers.opentelemetry',
    typedConfig: packed('envoy.config.trace.v3.OpenTelemetryConfig', {
      serviceName: conventional ? input.client.conventionalService : input.client.service,
      ...exporter,
      ...(resourceDetectors.length > 0 ? { resourceDetectors } : {}),
      ...(sampler === undefined ? {} : { sampler }),
    }),
  };
}

function datadog({ hostname, cluster }: ProviderService, { client }: TracerInput): TracingProvider {
  return {
    name: 'envoy.tracers.datadog',
    typedConfig: packed('envoy.config.trace.v3.DatadogConfig', {
      collectorCluster: cluster,
      serviceName: client.service,
      collectorHostname: hostname,
    }),
  };
}

function skywalking({ hostname, cluster }: ProviderService): TracingProvider {
  return {
    name: 'envoy.tracers.skywalking',
    typedConfig: packed('envoy.config.trace.v3.SkyWalkingConfig', {
      grpcService: { envoyGrpc: { clusterName: cluster, authority: hostname } },
    }),
  };
}

/** What a provider needs of its settings to be found. */
function remoteOf({ zipkin: z, opentelemetry, datadog: d, skywalking: s }: ExtensionProvider) {
  return z ?? opentelemetry ?? d ?? s;
}

/**
 * The tracer of a provider of mesh.yaml.
 *
 * @returns undefined for one that traces nothing, or whose service there is not
 * @see istio/istio pilot/pkg/networking/core/tracing.go `configureFromProviderConfig`
 */
export function tracerOf(settings: ExtensionProvider, input: TracerInput): Tracer | undefined {
  const remote = remoteOf(settings);
  const found = remote && input.find(remote.service ?? '', remote.port ?? 0);
  if (found === undefined) return undefined;
  const { zipkin: z, opentelemetry, datadog: d } = settings;
  const provider = z
    ? zipkin(z, found, input)
    : opentelemetry
      ? openTelemetry(opentelemetry, found, input)
      : d
        ? datadog(found, input)
        : skywalking(found);
  return (
    provider && {
      provider,
      maxTagLength: (z ?? opentelemetry ?? d)?.maxTagLength ?? 0,
      spawnsUpstreamSpan: input.client.gateway || settings.skywalking !== undefined,
      samples: opentelemetry?.dynatraceSampler !== undefined,
    }
  );
}
