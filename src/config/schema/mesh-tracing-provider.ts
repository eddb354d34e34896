import {
  bool,
  duration,
  type Enum,
  enumeration,
  int32,
  int64,
  list,
  type Message,
  map,
  message,
  one,
  string,
  uint32,
} from './schema.ts';

export const TraceContextOption: Enum = enumeration('TraceContextOption', 'Headers in which the trace goes along.', [
  'USE_B3',
  'USE_B3_WITH_W3C_PROPAGATION',
]);

export const HttpHeader: Message = message('HttpHeader', 'A header.', {
  name: one(string, 'Its name.'),
  value: one(string, 'Its value.', { oneof: 'headerValue' }),
  envName: one(string, 'Environment variable of the proxy that holds its value.', { oneof: 'headerValue' }),
});

export const ZipkinTracingProvider: Message = message('ZipkinTracingProvider', 'Tracing by Zipkin.', {
  service: one(string, 'Host of the service, as `host` or `namespace/host`.'),
  port: one(uint32, 'Port of the service.'),
  maxTagLength: one(uint32, 'Longest path in a span. Default 256.'),
  enable64bitTraceId: one(bool, 'Trace ids of 64 bits, not of 128.'),
  path: one(string, 'Path that spans are sent to. Default `/api/v2/spans`.'),
  traceContextOption: one(TraceContextOption, 'Headers in which the trace goes along.'),
  timeout: one(duration, 'How long sending spans may take. Default 5s.'),
  headers: list(HttpHeader, 'Headers sent along.'),
});

export const LightstepTracingProvider: Message = message('LightstepTracingProvider', 'Tracing by Lightstep.', {
  service: one(string, 'Host of the service, as `host` or `namespace/host`.'),
  port: one(uint32, 'Port of the service.'),
  accessToken: one(string, 'Token for the service.'),
  maxTagLength: one(uint32, 'Longest path in a span. Default 256.'),
});

export const DatadogTracingProvider: Message = message('DatadogTracingProvider', 'Tracing by Datadog.', {
  service: one(string, 'Host of the service, as `host` or `namespace/host`.'),
  port: one(uint32, 'Port of the service.'),
  maxTagLength: one(uint32, 'Longest path in a span. Default 256.'),
});

export const SkyWalkingTracingProvider: Message = message('SkyWalkingTracingProvider', 'Tracing by SkyWalking.', {
  service: one(string, 'Host of the service, as `host` or `namespace/host`.'),
  port: one(uint32, 'Port of the service.'),
  accessToken: one(string, 'Token for the service.'),
});

export const StackdriverProviderLogging: Message = message('StackdriverProviderLogging', 'Logs by Stackdriver.', {
  labels: map(string, 'Labels of each record.'),
});

export const StackdriverProvider: Message = message('StackdriverProvider', 'Tracing and logs by Stackdriver.', {
  debug: one(bool, 'Print spans to the output, too.', { deprecated: 'it has no effect.' }),
  maxNumberOfAttributes: one(int64, 'Most attributes in a span.', { deprecated: 'it has no effect.' }),
  maxNumberOfAnnotations: one(int64, 'Most annotations in a span.', { deprecated: 'it has no effect.' }),
  maxNumberOfMessageEvents: one(int64, 'Most message events in a span.', { deprecated: 'it has no effect.' }),
  maxTagLength: one(uint32, 'Longest path in a span. Default 256.'),
  logging: one(StackdriverProviderLogging, 'Logs.'),
});

export const OpenCensusAgentTracingProviderTraceContext: Enum = enumeration(
  'OpenCensusAgentTracingProviderTraceContext',
  'Headers in which the trace goes along.',
  ['UNSPECIFIED', 'W3C_TRACE_CONTEXT', 'GRPC_BIN', 'CLOUD_TRACE_CONTEXT', 'B3'],
);

export const OpenCensusAgentTracingProvider: Message = message(
  'OpenCensusAgentTracingProvider',
  'Tracing by an OpenCensus agent.',
  {
    service: one(string, 'Host of the service, as `host` or `namespace/host`.'),
    port: one(uint32, 'Port of the service.'),
    context: list(OpenCensusAgentTracingProviderTraceContext, 'Headers in which the trace goes along.'),
    maxTagLength: one(uint32, 'Longest path in a span. Default 256.'),
  },
);

export const HttpService: Message = message('HttpService', 'How spans are sent over HTTP.', {
  path: one(string, 'Path that they are sent to.'),
  timeout: one(duration, 'How long it may take.'),
  headers: list(HttpHeader, 'Headers sent along.'),
});

export const GrpcService: Message = message('GrpcService', 'How spans are sent over gRPC.', {
  timeout: one(duration, 'How long it may take.'),
  initialMetadata: list(HttpHeader, 'Metadata sent along.'),
});

export const EnvironmentResourceDetector: Message = message(
  'EnvironmentResourceDetector',
  'Attributes from the environment variable OTEL_RESOURCE_ATTRIBUTES.',
  {},
);

export const DynatraceResourceDetector: Message = message(
  'DynatraceResourceDetector',
  "Attributes from Dynatrace's files.",
  {},
);

export const ResourceDetectors: Message = message('ResourceDetectors', 'Where attributes of the resource come from.', {
  environment: one(EnvironmentResourceDetector, 'From the environment.'),
  dynatrace: one(DynatraceResourceDetector, "From Dynatrace's files."),
});

export const ServiceAttributeEnrichment: Enum = enumeration(
  'ServiceAttributeEnrichment',
  'How a span names its service.',
  ['ISTIO_CANONICAL', 'OTEL_SEMANTIC_CONVENTIONS'],
);

export const DynatraceApi: Message = message('DynatraceApi', "Dynatrace's API.", {
  service: one(string, 'Host of the service, as `host` or `namespace/host`.'),
  port: one(uint32, 'Port of the service.'),
  http: one(HttpService, 'Path, timeout and headers.'),
});

export const DynatraceSampler: Message = message('DynatraceSampler', 'Sampling as Dynatrace says.', {
  tenant: one(string, "Dynatrace's tenant."),
  clusterId: one(int32, "Dynatrace's cluster."),
  rootSpansPerMinute: one(uint32, 'Root spans a minute before the API was asked. Default 1000.'),
  httpService: one(DynatraceApi, 'The API to ask.'),
});

export const OpenTelemetryTracingProvider: Message = message(
  'OpenTelemetryTracingProvider',
  'Tracing by OpenTelemetry.',
  {
    service: one(string, 'Host of the service, as `host` or `namespace/host`.'),
    port: one(uint32, 'Port of the service.'),
    maxTagLength: one(uint32, 'Longest path in a span. Default 256.'),
    http: one(HttpService, 'Send spans over HTTP.'),
    grpc: one(GrpcService, 'Send spans over gRPC, which is the default.'),
    resourceDetectors: one(ResourceDetectors, 'Where attributes of the resource come from.'),
    serviceAttributeEnrichment: one(ServiceAttributeEnrichment, 'How a span names its service.'),
    dynatraceSampler: one(DynatraceSampler, 'Sampling as Dynatrace says.', { oneof: 'sampling' }),
  },
);
