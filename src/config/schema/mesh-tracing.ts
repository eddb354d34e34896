import { ClientTLSSettings } from './client-tls.ts';
import {
  bool,
  double,
  type Enum,
  enumeration,
  ignored,
  int64,
  list,
  type Message,
  map,
  message,
  one,
  string,
  uint32,
} from './schema.ts';

export const TracingZipkin: Message = message('TracingZipkin', 'Zipkin.', {
  address: one(string, 'Address, as `host:port`.'),
});

export const TracingLightstep: Message = message('TracingLightstep', 'Lightstep.', {
  address: one(string, 'Address of the satellite pool, as `host:port`.'),
  accessToken: one(string, 'Token for it.'),
});

export const TracingDatadog: Message = message('TracingDatadog', 'Datadog.', {
  address: one(string, 'Address of the agent, as `host:port`.'),
});

export const TracingStackdriver: Message = message('TracingStackdriver', 'Stackdriver.', {
  debug: one(bool, 'Print spans to the output, too.'),
  maxNumberOfAttributes: one(int64, 'Most attributes in a span.'),
  maxNumberOfAnnotations: one(int64, 'Most annotations in a span.'),
  maxNumberOfMessageEvents: one(int64, 'Most message events in a span.'),
});

export const OpenCensusAgentTraceContext: Enum = enumeration(
  'OpenCensusAgentTraceContext',
  'Headers in which the trace goes along.',
  ['UNSPECIFIED', 'W3C_TRACE_CONTEXT', 'GRPC_BIN', 'CLOUD_TRACE_CONTEXT', 'B3'],
);

export const OpenCensusAgent: Message = message('OpenCensusAgent', 'An OpenCensus agent.', {
  address: one(string, 'Address, as `dns:host:port` or `ipv4:address:port`.'),
  context: list(OpenCensusAgentTraceContext, 'Headers in which the trace goes along.'),
});

export const TracingLiteral: Message = message('TracingLiteral', 'A fixed value.', {
  value: one(string, 'The value.'),
});

export const TracingEnvironment: Message = message('TracingEnvironment', "A value from the proxy's environment.", {
  name: one(string, 'The variable.'),
  defaultValue: one(string, 'Value when it is not set.'),
});

export const TracingRequestHeader: Message = message('TracingRequestHeader', 'A value from a header of the request.', {
  name: one(string, 'The header.'),
  defaultValue: one(string, 'Value when it is absent.'),
});

export const TracingCustomTag: Message = message('TracingCustomTag', 'A tag on each span.', {
  literal: one(TracingLiteral, 'A fixed value.', { oneof: 'type' }),
  environment: one(TracingEnvironment, "A value from the proxy's environment.", { oneof: 'type' }),
  header: one(TracingRequestHeader, 'A value from a header of the request.', { oneof: 'type' }),
});

export const Tracing: Message = message('Tracing', 'Tracing by the proxy itself.', {
  zipkin: ignored(
    one(TracingZipkin, 'Send spans to Zipkin.', { oneof: 'tracer' }),
    'name the collector by an extensionProvider and a Telemetry',
  ),
  lightstep: ignored(
    one(TracingLightstep, 'Send spans to Lightstep.', { oneof: 'tracer' }),
    'name the collector by an extensionProvider and a Telemetry',
  ),
  datadog: ignored(
    one(TracingDatadog, 'Send spans to Datadog.', { oneof: 'tracer' }),
    'name the collector by an extensionProvider and a Telemetry',
  ),
  stackdriver: ignored(
    one(TracingStackdriver, 'Send spans to Stackdriver.', { oneof: 'tracer' }),
    'name the collector by an extensionProvider and a Telemetry',
  ),
  openCensusAgent: ignored(
    one(OpenCensusAgent, 'Send spans to an OpenCensus agent.', { oneof: 'tracer' }),
    'name the collector by an extensionProvider and a Telemetry',
  ),
  customTags: map(TracingCustomTag, 'Tags on each span, by name.'),
  maxPathTagLength: one(uint32, 'Longest path in a span. Default 256.'),
  sampling: one(double, 'Percentage of requests that are traced. Default 1.'),
  tlsSettings: ignored(
    one(ClientTLSSettings, 'TLS towards the tracer.'),
    'name the collector by an extensionProvider and a Telemetry',
  ),
  enableIstioTags: one(bool, "Tags with Istio's names of mesh, workload and so on. Default true."),
});
