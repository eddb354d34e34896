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

export const TraceContextOption: Enum = enumeration('TraceContextOption', '', [
  'USE_B3',
  'USE_B3_WITH_W3C_PROPAGATION',
]);

export const HttpHeader: Message = message('HttpHeader', '', {
  name: one(string, ''),
  value: one(string, '', { oneof: 'headerValue' }),
  envName: one(string, '', { oneof: 'headerValue' }),
});

export const ZipkinTracingProvider: Message = message('ZipkinTracingProvider', '', {
  service: one(string, ''),
  port: one(uint32, ''),
  maxTagLength: one(uint32, ''),
  enable64bitTraceId: one(bool, ''),
  path: one(string, ''),
  traceContextOption: one(TraceContextOption, ''),
  timeout: one(duration, ''),
  headers: list(HttpHeader, ''),
});

export const LightstepTracingProvider: Message = message('LightstepTracingProvider', '', {
  service: one(string, ''),
  port: one(uint32, ''),
  accessToken: one(string, ''),
  maxTagLength: one(uint32, ''),
});

export const DatadogTracingProvider: Message = message('DatadogTracingProvider', '', {
  service: one(string, ''),
  port: one(uint32, ''),
  maxTagLength: one(uint32, ''),
});

export const SkyWalkingTracingProvider: Message = message('SkyWalkingTracingProvider', '', {
  service: one(string, ''),
  port: one(uint32, ''),
  accessToken: one(string, ''),
});

export const StackdriverProviderLogging: Message = message('StackdriverProviderLogging', '', {
  labels: map(string, ''),
});

export const StackdriverProvider: Message = message('StackdriverProvider', '', {
  debug: one(bool, '', { deprecated: '' }),
  maxNumberOfAttributes: one(int64, '', { deprecated: '' }),
  maxNumberOfAnnotations: one(int64, '', { deprecated: '' }),
  maxNumberOfMessageEvents: one(int64, '', { deprecated: '' }),
  maxTagLength: one(uint32, ''),
  logging: one(StackdriverProviderLogging, ''),
});

export const OpenCensusAgentTracingProviderTraceContext: Enum = enumeration(
  'OpenCensusAgentTracingProviderTraceContext',
  '',
  ['UNSPECIFIED', 'W3C_TRACE_CONTEXT', 'GRPC_BIN', 'CLOUD_TRACE_CONTEXT', 'B3'],
);

export const OpenCensusAgentTracingProvider: Message = message('OpenCensusAgentTracingProvider', '', {
  service: one(string, ''),
  port: one(uint32, ''),
  context: list(OpenCensusAgentTracingProviderTraceContext, ''),
  maxTagLength: one(uint32, ''),
});

export const HttpService: Message = message('HttpService', '', {
  path: one(string, ''),
  timeout: one(duration, ''),
  headers: list(HttpHeader, ''),
});

export const GrpcService: Message = message('GrpcService', '', {
  timeout: one(duration, ''),
  initialMetadata: list(HttpHeader, ''),
});

export const EnvironmentResourceDetector: Message = message('EnvironmentResourceDetector', '', {});

export const DynatraceResourceDetector: Message = message('DynatraceResourceDetector', '', {});

export const ResourceDetectors: Message = message('ResourceDetectors', '', {
  environment: one(EnvironmentResourceDetector, ''),
  dynatrace: one(DynatraceResourceDetector, ''),
});

export const ServiceAttributeEnrichment: Enum = enumeration('ServiceAttributeEnrichment', '', [
  'ISTIO_CANONICAL',
  'OTEL_SEMANTIC_CONVENTIONS',
]);

export const DynatraceApi: Message = message('DynatraceApi', '', {
  service: one(string, ''),
  port: one(uint32, ''),
  http: one(HttpService, ''),
});

export const DynatraceSampler: Message = message('DynatraceSampler', '', {
  tenant: one(string, ''),
  clusterId: one(int32, ''),
  rootSpansPerMinute: one(uint32, ''),
  httpService: one(DynatraceApi, ''),
});

export const OpenTelemetryTracingProvider: Message = message('OpenTelemetryTracingProvider', '', {
  service: one(string, ''),
  port: one(uint32, ''),
  maxTagLength: one(uint32, ''),
  http: one(HttpService, ''),
  grpc: one(GrpcService, ''),
  resourceDetectors: one(ResourceDetectors, ''),
  serviceAttributeEnrichment: one(ServiceAttributeEnrichment, ''),
  dynatraceSampler: one(DynatraceSampler, '', { oneof: 'sampling' }),
});
