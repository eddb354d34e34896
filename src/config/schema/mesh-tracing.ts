import { ClientTLSSettings } from './client-tls.ts';
import {
  bool,
  double,
  type Enum,
  enumeration,
  int64,
  list,
  type Message,
  map,
  message,
  one,
  string,
  uint32,
} from './schema.ts';

export const TracingZipkin: Message = message('TracingZipkin', '', {
  address: one(string, ''),
});

export const TracingLightstep: Message = message('TracingLightstep', '', {
  address: one(string, ''),
  accessToken: one(string, ''),
});

export const TracingDatadog: Message = message('TracingDatadog', '', {
  address: one(string, ''),
});

export const TracingStackdriver: Message = message('TracingStackdriver', '', {
  debug: one(bool, ''),
  maxNumberOfAttributes: one(int64, ''),
  maxNumberOfAnnotations: one(int64, ''),
  maxNumberOfMessageEvents: one(int64, ''),
});

export const OpenCensusAgentTraceContext: Enum = enumeration('OpenCensusAgentTraceContext', '', [
  'UNSPECIFIED',
  'W3C_TRACE_CONTEXT',
  'GRPC_BIN',
  'CLOUD_TRACE_CONTEXT',
  'B3',
]);

export const OpenCensusAgent: Message = message('OpenCensusAgent', '', {
  address: one(string, ''),
  context: list(OpenCensusAgentTraceContext, ''),
});

export const TracingLiteral: Message = message('TracingLiteral', '', {
  value: one(string, ''),
});

export const TracingEnvironment: Message = message('TracingEnvironment', '', {
  name: one(string, ''),
  defaultValue: one(string, ''),
});

export const TracingRequestHeader: Message = message('TracingRequestHeader', '', {
  name: one(string, ''),
  defaultValue: one(string, ''),
});

export const TracingCustomTag: Message = message('TracingCustomTag', '', {
  literal: one(TracingLiteral, '', { oneof: 'type' }),
  environment: one(TracingEnvironment, '', { oneof: 'type' }),
  header: one(TracingRequestHeader, '', { oneof: 'type' }),
});

export const Tracing: Message = message('Tracing', '', {
  zipkin: one(TracingZipkin, '', { oneof: 'tracer' }),
  lightstep: one(TracingLightstep, '', { oneof: 'tracer' }),
  datadog: one(TracingDatadog, '', { oneof: 'tracer' }),
  stackdriver: one(TracingStackdriver, '', { oneof: 'tracer' }),
  openCensusAgent: one(OpenCensusAgent, '', { oneof: 'tracer' }),
  customTags: map(TracingCustomTag, ''),
  maxPathTagLength: one(uint32, ''),
  sampling: one(double, ''),
  tlsSettings: one(ClientTLSSettings, ''),
  enableIstioTags: one(bool, ''),
});
