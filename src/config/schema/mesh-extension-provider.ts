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

export const EnvoyExternalAuthorizationRequestBody: Message = message(
  'EnvoyExternalAuthorizationRequestBody',
  'How much of a body is sent to the authorizer.',
  {
    maxRequestBytes: one(uint32, 'At most so many bytes; a larger body is refused with 413.'),
    allowPartialMessage: one(bool, 'Send what fits instead of refusing.'),
    packAsBytes: one(bool, 'Send it as bytes, not as UTF-8 text.'),
  },
);

export const EnvoyExternalAuthorizationHttpProvider: Message = message(
  'EnvoyExternalAuthorizationHttpProvider',
  'An authorizer that is asked over HTTP.',
  {
    service: one(string, 'Host of the service, as `host` or `namespace/host`.'),
    port: one(uint32, 'Port of the service.'),
    timeout: one(duration, 'How long an answer may take. Default 600s.'),
    pathPrefix: one(string, 'Put before the path of each question.'),
    failOpen: one(bool, 'Let requests pass when it does not answer.'),
    clearRouteCache: one(bool, 'Choose the route again after its answer.'),
    statusOnError: one(string, 'HTTP status when it does not answer. Default 403.'),
    includeHeadersInCheck: list(string, 'Headers of the request that it gets.', {
      deprecated: 'write `includeRequestHeadersInCheck`.',
    }),
    includeRequestHeadersInCheck: list(string, 'Headers of the request that it gets; `*` at either end matches any.'),
    includeAdditionalHeadersInCheck: map(string, 'Further headers that it gets, with their values.'),
    includeRequestBodyInCheck: one(EnvoyExternalAuthorizationRequestBody, 'The body that it gets.'),
    headersToUpstreamOnAllow: list(string, 'Headers of its answer that go on with an allowed request.'),
    headersToDownstreamOnDeny: list(string, 'Headers of its answer that go back with a refusal.'),
    headersToDownstreamOnAllow: list(string, 'Headers of its answer that go back with the response.'),
  },
);

export const EnvoyExternalAuthorizationGrpcProvider: Message = message(
  'EnvoyExternalAuthorizationGrpcProvider',
  'An authorizer that is asked over gRPC.',
  {
    service: one(string, 'Host of the service, as `host` or `namespace/host`.'),
    port: one(uint32, 'Port of the service.'),
    timeout: one(duration, 'How long an answer may take. Default 600s.'),
    failOpen: one(bool, 'Let requests pass when it does not answer.'),
    clearRouteCache: one(bool, 'Choose the route again after its answer.'),
    statusOnError: one(string, 'HTTP status when it does not answer. Default 403.'),
    includeRequestBodyInCheck: one(EnvoyExternalAuthorizationRequestBody, 'The body that it gets.'),
  },
);

export const PrometheusMetricsProvider: Message = message(
  'PrometheusMetricsProvider',
  'Metrics to be scraped by Prometheus.',
  {},
);

export const EnvoyFileAccessLogProviderLogFormat: Message = message(
  'EnvoyFileAccessLogProviderLogFormat',
  'Format of a line.',
  {
    text: one(string, "As text, with Envoy's `%COMMANDS%`.", { oneof: 'logFormat' }),
    labels: one(struct, "As JSON, with Envoy's `%COMMANDS%` in its values.", { oneof: 'logFormat' }),
  },
);

export const EnvoyFileAccessLogProvider: Message = message('EnvoyFileAccessLogProvider', 'An access log in a file.', {
  path: one(string, 'The file.'),
  logFormat: one(EnvoyFileAccessLogProviderLogFormat, 'Format of a line.'),
  omitEmptyValues: one(bool, 'Leave out what is empty, instead of `-`.'),
});

export const EnvoyHttpGrpcV3LogProvider: Message = message(
  'EnvoyHttpGrpcV3LogProvider',
  'HTTP access logs sent over gRPC.',
  {
    service: one(string, 'Host of the service, as `host` or `namespace/host`.'),
    port: one(uint32, 'Port of the service.'),
    logName: one(string, 'Name of the log, told to the service.'),
    filterStateObjectsToLog: list(string, 'Filter state that goes along.'),
    additionalRequestHeadersToLog: list(string, 'Request headers that go along.'),
    additionalResponseHeadersToLog: list(string, 'Response headers that go along.'),
    additionalResponseTrailersToLog: list(string, 'Response trailers that go along.'),
  },
);

export const EnvoyTcpGrpcV3LogProvider: Message = message(
  'EnvoyTcpGrpcV3LogProvider',
  'TCP access logs sent over gRPC.',
  {
    service: one(string, 'Host of the service, as `host` or `namespace/host`.'),
    port: one(uint32, 'Port of the service.'),
    logName: one(string, 'Name of the log, told to the service.'),
    filterStateObjectsToLog: list(string, 'Filter state that goes along.'),
  },
);

export const EnvoyOpenTelemetryLogProviderLogFormat: Message = message(
  'EnvoyOpenTelemetryLogProviderLogFormat',
  'Format of a record.',
  {
    text: one(string, "Its body, with Envoy's `%COMMANDS%`."),
    labels: one(struct, "Its attributes, with Envoy's `%COMMANDS%` in their values."),
  },
);

export const EnvoyOpenTelemetryLogProvider: Message = message(
  'EnvoyOpenTelemetryLogProvider',
  'Access logs sent by OpenTelemetry.',
  {
    service: one(string, 'Host of the service, as `host` or `namespace/host`.'),
    port: one(uint32, 'Port of the service.'),
    logName: one(string, 'Name of the log, told to the service.'),
    logFormat: one(EnvoyOpenTelemetryLogProviderLogFormat, 'Format of a record.'),
  },
);

export const SDSProvider: Message = message('SDSProvider', 'A server of secrets, which TLS settings may name.', {
  name: one(string, 'Name used in `sds://` credential names.'),
  service: one(string, 'Host of the service, as `host` or `namespace/host`.'),
  port: one(uint32, 'Port of the service.'),
});

export const ExtensionProvider: Message = message(
  'ExtensionProvider',
  'A tracer, logger, authorizer or the like, under a name.',
  {
    name: one(string, 'The name, unique in the mesh.'),
    envoyExtAuthzHttp: one(EnvoyExternalAuthorizationHttpProvider, 'An authorizer asked over HTTP.', {
      oneof: 'provider',
    }),
    envoyExtAuthzGrpc: one(EnvoyExternalAuthorizationGrpcProvider, 'An authorizer asked over gRPC.', {
      oneof: 'provider',
    }),
    zipkin: one(ZipkinTracingProvider, 'Tracing by Zipkin.', { oneof: 'provider' }),
    lightstep: one(LightstepTracingProvider, 'Tracing by Lightstep.', {
      deprecated: 'write `opentelemetry`.',
      oneof: 'provider',
    }),
    datadog: one(DatadogTracingProvider, 'Tracing by Datadog.', { oneof: 'provider' }),
    stackdriver: one(StackdriverProvider, 'Tracing and logs by Stackdriver.', { oneof: 'provider' }),
    opencensus: one(OpenCensusAgentTracingProvider, 'Tracing by OpenCensus.', {
      deprecated: 'write `opentelemetry`.',
      oneof: 'provider',
    }),
    skywalking: one(SkyWalkingTracingProvider, 'Tracing by SkyWalking.', { oneof: 'provider' }),
    opentelemetry: one(OpenTelemetryTracingProvider, 'Tracing by OpenTelemetry.', { oneof: 'provider' }),
    prometheus: one(PrometheusMetricsProvider, 'Metrics for Prometheus.', { oneof: 'provider' }),
    envoyFileAccessLog: one(EnvoyFileAccessLogProvider, 'Access logs in a file.', { oneof: 'provider' }),
    envoyHttpAls: one(EnvoyHttpGrpcV3LogProvider, 'HTTP access logs over gRPC.', { oneof: 'provider' }),
    envoyTcpAls: one(EnvoyTcpGrpcV3LogProvider, 'TCP access logs over gRPC.', { oneof: 'provider' }),
    envoyOtelAls: one(EnvoyOpenTelemetryLogProvider, 'Access logs by OpenTelemetry.', { oneof: 'provider' }),
    sds: one(SDSProvider, 'A server of secrets.', { oneof: 'provider' }),
  },
);
