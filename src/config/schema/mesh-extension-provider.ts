import {
  DatadogTracingProvider,
  LightstepTracingProvider,
  OpenCensusAgentTracingProvider,
  OpenTelemetryTracingProvider,
  SkyWalkingTracingProvider,
  StackdriverProvider,
  ZipkinTracingProvider,
} from './mesh-tracing-provider.ts';
import { bool, duration, list, type Message, map, message, one, string, struct, uint32 } from './schema.ts';

export const EnvoyExternalAuthorizationRequestBody: Message = message('EnvoyExternalAuthorizationRequestBody', '', {
  maxRequestBytes: one(uint32, ''),
  allowPartialMessage: one(bool, ''),
  packAsBytes: one(bool, ''),
});

export const EnvoyExternalAuthorizationHttpProvider: Message = message('EnvoyExternalAuthorizationHttpProvider', '', {
  service: one(string, ''),
  port: one(uint32, ''),
  timeout: one(duration, ''),
  pathPrefix: one(string, ''),
  failOpen: one(bool, ''),
  clearRouteCache: one(bool, ''),
  statusOnError: one(string, ''),
  includeHeadersInCheck: list(string, '', { deprecated: '' }),
  includeRequestHeadersInCheck: list(string, ''),
  includeAdditionalHeadersInCheck: map(string, ''),
  includeRequestBodyInCheck: one(EnvoyExternalAuthorizationRequestBody, ''),
  headersToUpstreamOnAllow: list(string, ''),
  headersToDownstreamOnDeny: list(string, ''),
  headersToDownstreamOnAllow: list(string, ''),
});

export const EnvoyExternalAuthorizationGrpcProvider: Message = message('EnvoyExternalAuthorizationGrpcProvider', '', {
  service: one(string, ''),
  port: one(uint32, ''),
  timeout: one(duration, ''),
  failOpen: one(bool, ''),
  clearRouteCache: one(bool, ''),
  statusOnError: one(string, ''),
  includeRequestBodyInCheck: one(EnvoyExternalAuthorizationRequestBody, ''),
});

export const PrometheusMetricsProvider: Message = message('PrometheusMetricsProvider', '', {});

export const EnvoyFileAccessLogProviderLogFormat: Message = message('EnvoyFileAccessLogProviderLogFormat', '', {
  text: one(string, '', { oneof: 'logFormat' }),
  labels: one(struct, '', { oneof: 'logFormat' }),
});

export const EnvoyFileAccessLogProvider: Message = message('EnvoyFileAccessLogProvider', '', {
  path: one(string, ''),
  logFormat: one(EnvoyFileAccessLogProviderLogFormat, ''),
  omitEmptyValues: one(bool, ''),
});

export const EnvoyHttpGrpcV3LogProvider: Message = message('EnvoyHttpGrpcV3LogProvider', '', {
  service: one(string, ''),
  port: one(uint32, ''),
  logName: one(string, ''),
  filterStateObjectsToLog: list(string, ''),
  additionalRequestHeadersToLog: list(string, ''),
  additionalResponseHeadersToLog: list(string, ''),
  additionalResponseTrailersToLog: list(string, ''),
});

export const EnvoyTcpGrpcV3LogProvider: Message = message('EnvoyTcpGrpcV3LogProvider', '', {
  service: one(string, ''),
  port: one(uint32, ''),
  logName: one(string, ''),
  filterStateObjectsToLog: list(string, ''),
});

export const EnvoyOpenTelemetryLogProviderLogFormat: Message = message('EnvoyOpenTelemetryLogProviderLogFormat', '', {
  text: one(string, ''),
  labels: one(struct, ''),
});

export const EnvoyOpenTelemetryLogProvider: Message = message('EnvoyOpenTelemetryLogProvider', '', {
  service: one(string, ''),
  port: one(uint32, ''),
  logName: one(string, ''),
  logFormat: one(EnvoyOpenTelemetryLogProviderLogFormat, ''),
});

export const SDSProvider: Message = message('SDSProvider', '', {
  name: one(string, ''),
  service: one(string, ''),
  port: one(uint32, ''),
});

export const ExtensionProvider: Message = message('ExtensionProvider', '', {
  name: one(string, ''),
  envoyExtAuthzHttp: one(EnvoyExternalAuthorizationHttpProvider, '', { oneof: 'provider' }),
  envoyExtAuthzGrpc: one(EnvoyExternalAuthorizationGrpcProvider, '', { oneof: 'provider' }),
  zipkin: one(ZipkinTracingProvider, '', { oneof: 'provider' }),
  lightstep: one(LightstepTracingProvider, '', { deprecated: '', oneof: 'provider' }),
  datadog: one(DatadogTracingProvider, '', { oneof: 'provider' }),
  stackdriver: one(StackdriverProvider, '', { oneof: 'provider' }),
  opencensus: one(OpenCensusAgentTracingProvider, '', { deprecated: '', oneof: 'provider' }),
  skywalking: one(SkyWalkingTracingProvider, '', { oneof: 'provider' }),
  opentelemetry: one(OpenTelemetryTracingProvider, '', { oneof: 'provider' }),
  prometheus: one(PrometheusMetricsProvider, '', { oneof: 'provider' }),
  envoyFileAccessLog: one(EnvoyFileAccessLogProvider, '', { oneof: 'provider' }),
  envoyHttpAls: one(EnvoyHttpGrpcV3LogProvider, '', { oneof: 'provider' }),
  envoyTcpAls: one(EnvoyTcpGrpcV3LogProvider, '', { oneof: 'provider' }),
  envoyOtelAls: one(EnvoyOpenTelemetryLogProvider, '', { oneof: 'provider' }),
  sds: one(SDSProvider, '', { oneof: 'provider' }),
});
