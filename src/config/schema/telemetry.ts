import {
  bool,
  bounded,
  double,
  duration,
  type Enum,
  enumeration,
  list,
  type Message,
  map,
  message,
  one,
  string,
} from './schema.ts';
import { PolicyTargetReference, PolicyWorkloadSelector } from './selector.ts';

export const WorkloadMode: Enum = enumeration('WorkloadMode', '', ['CLIENT_AND_SERVER', 'CLIENT', 'SERVER']);

export const TracingSelector: Message = message('TracingSelector', '', {
  mode: one(WorkloadMode, ''),
});

export const ProviderRef: Message = message('ProviderRef', '', {
  name: one(bounded(string, { minLength: 1 }), '', { required: true }),
});

export const TelemetryTracingLiteral: Message = message('TelemetryTracingLiteral', '', {
  value: one(bounded(string, { minLength: 1 }), '', { required: true }),
});

export const TelemetryTracingEnvironment: Message = message('TelemetryTracingEnvironment', '', {
  name: one(bounded(string, { minLength: 1 }), '', { required: true }),
  defaultValue: one(string, ''),
});

export const TelemetryTracingRequestHeader: Message = message('TelemetryTracingRequestHeader', '', {
  name: one(bounded(string, { minLength: 1 }), '', { required: true }),
  defaultValue: one(string, ''),
});

export const TelemetryTracingFormatter: Message = message('TelemetryTracingFormatter', '', {
  value: one(bounded(string, { minLength: 1 }), '', { required: true }),
});

export const TelemetryTracingCustomTag: Message = message('TelemetryTracingCustomTag', '', {
  literal: one(TelemetryTracingLiteral, '', { oneof: 'type' }),
  environment: one(TelemetryTracingEnvironment, '', { oneof: 'type' }),
  header: one(TelemetryTracingRequestHeader, '', { oneof: 'type' }),
  formatter: one(TelemetryTracingFormatter, '', { oneof: 'type' }),
});

export const TelemetryTracing: Message = message('TelemetryTracing', '', {
  match: one(TracingSelector, ''),
  providers: list(ProviderRef, ''),
  randomSamplingPercentage: one(bounded(double, { min: 0, max: 100 }), ''),
  disableSpanReporting: one(bool, ''),
  customTags: map(TelemetryTracingCustomTag, ''),
  useRequestIdForTraceSampling: one(bool, ''),
  enableIstioTags: one(bool, ''),
  disableContextPropagation: one(bool, ''),
});

export const IstioMetric: Enum = enumeration('IstioMetric', '', [
  'ALL_METRICS',
  'REQUEST_COUNT',
  'REQUEST_DURATION',
  'REQUEST_SIZE',
  'RESPONSE_SIZE',
  'TCP_OPENED_CONNECTIONS',
  'TCP_CLOSED_CONNECTIONS',
  'TCP_SENT_BYTES',
  'TCP_RECEIVED_BYTES',
  'GRPC_REQUEST_MESSAGES',
  'GRPC_RESPONSE_MESSAGES',
]);

export const MetricSelector: Message = message('MetricSelector', '', {
  metric: one(IstioMetric, '', { oneof: 'metricMatch' }),
  customMetric: one(bounded(string, { minLength: 1 }), '', { oneof: 'metricMatch' }),
  mode: one(WorkloadMode, ''),
});

export const TagOverrideOperation: Enum = enumeration('TagOverrideOperation', '', ['UPSERT', 'REMOVE']);

export const TagOverride: Message = message('TagOverride', '', {
  operation: one(TagOverrideOperation, ''),
  value: one(string, ''),
});

export const MetricsOverrides: Message = message('MetricsOverrides', '', {
  match: one(MetricSelector, ''),
  disabled: one(bool, ''),
  tagOverrides: map(TagOverride, ''),
});

export const Metrics: Message = message('Metrics', '', {
  providers: list(ProviderRef, ''),
  overrides: list(MetricsOverrides, ''),
  reportingInterval: one(bounded(duration, { min: 1 }), ''),
});

export const LogSelector: Message = message('LogSelector', '', {
  mode: one(WorkloadMode, ''),
});

export const AccessLoggingFilter: Message = message('AccessLoggingFilter', '', {
  expression: one(string, ''),
});

export const AccessLogging: Message = message('AccessLogging', '', {
  match: one(LogSelector, ''),
  providers: list(ProviderRef, ''),
  disabled: one(bool, ''),
  filter: one(AccessLoggingFilter, ''),
});

export const Telemetry: Message = message('Telemetry', '', {
  selector: one(PolicyWorkloadSelector, ''),
  targetRef: one(PolicyTargetReference, ''),
  targetRefs: list(PolicyTargetReference, '', { maxItems: 16 }),
  tracing: list(TelemetryTracing, ''),
  metrics: list(Metrics, ''),
  accessLogging: list(AccessLogging, ''),
});
