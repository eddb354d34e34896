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

export const WorkloadMode: Enum = enumeration('WorkloadMode', 'Whether the workload is client or server.', [
  'CLIENT_AND_SERVER',
  'CLIENT',
  'SERVER',
]);

export const TracingSelector: Message = message('TracingSelector', 'Which traffic is traced.', {
  mode: one(WorkloadMode, 'Whether the workload is client or server.'),
});

export const ProviderRef: Message = message('ProviderRef', 'A provider.', {
  name: one(bounded(string, { minLength: 1 }), 'Its name in mesh.yaml.', { required: true }),
});

export const TelemetryTracingLiteral: Message = message('TelemetryTracingLiteral', 'A fixed value.', {
  value: one(bounded(string, { minLength: 1 }), 'The value.', { required: true }),
});

export const TelemetryTracingEnvironment: Message = message(
  'TelemetryTracingEnvironment',
  "A value from the proxy's environment.",
  {
    name: one(bounded(string, { minLength: 1 }), 'The variable.', { required: true }),
    defaultValue: one(string, 'Value when it is not set.'),
  },
);

export const TelemetryTracingRequestHeader: Message = message(
  'TelemetryTracingRequestHeader',
  'A value from a header of the request.',
  {
    name: one(bounded(string, { minLength: 1 }), 'The header.', { required: true }),
    defaultValue: one(string, 'Value when it is absent.'),
  },
);

export const TelemetryTracingFormatter: Message = message(
  'TelemetryTracingFormatter',
  "A value with Envoy's `%COMMANDS%`.",
  {
    value: one(bounded(string, { minLength: 1 }), 'The value.', { required: true }),
  },
);

export const TelemetryTracingCustomTag: Message = message('TelemetryTracingCustomTag', 'A tag on each span.', {
  literal: one(TelemetryTracingLiteral, 'A fixed value.', { oneof: 'type' }),
  environment: one(TelemetryTracingEnvironment, "A value from the proxy's environment.", { oneof: 'type' }),
  header: one(TelemetryTracingRequestHeader, 'A value from a header of the request.', { oneof: 'type' }),
  formatter: one(TelemetryTracingFormatter, "A value with Envoy's `%COMMANDS%`.", { oneof: 'type' }),
});

export const TelemetryTracing: Message = message('TelemetryTracing', 'Tracing.', {
  match: one(TracingSelector, 'Which traffic.'),
  providers: list(ProviderRef, 'Where spans go. None: as mesh.yaml says.'),
  randomSamplingPercentage: one(bounded(double, { min: 0, max: 100 }), 'Percentage of requests that are traced.'),
  disableSpanReporting: one(bool, 'Send no spans; the trace still goes along with requests.'),
  customTags: map(
    TelemetryTracingCustomTag,
    'Tags on each span, by name. An empty map takes back those of wider Telemetries.',
    { emptyCounts: true },
  ),
  useRequestIdForTraceSampling: one(bool, 'Decide by X-Request-Id whether to trace. Default true.'),
  enableIstioTags: one(bool, "Tags with Istio's names of mesh, workload and so on. Default true."),
  disableContextPropagation: one(bool, 'The trace does not go along with requests.'),
});

export const IstioMetric: Enum = enumeration('IstioMetric', "One of Istio's metrics.", [
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

export const MetricSelector: Message = message('MetricSelector', 'Which metrics.', {
  metric: one(IstioMetric, "One of Istio's.", { oneof: 'metricMatch' }),
  customMetric: one(bounded(string, { minLength: 1 }), 'Another one, by name.', { oneof: 'metricMatch' }),
  mode: one(WorkloadMode, 'Whether the workload is client or server.'),
});

export const TagOverrideOperation: Enum = enumeration('TagOverrideOperation', 'What happens to a tag.', [
  'UPSERT',
  'REMOVE',
]);

export const TagOverride: Message = message('TagOverride', 'A change to a tag.', {
  operation: one(TagOverrideOperation, 'What happens.'),
  value: one(string, 'CEL expression for its value.'),
});

export const MetricsOverrides: Message = message('MetricsOverrides', 'A change to metrics.', {
  match: one(MetricSelector, 'Which metrics. None: all.'),
  disabled: one(bool, 'Do not keep them.'),
  tagOverrides: map(TagOverride, 'Changes to tags, by name.'),
});

export const Metrics: Message = message('Metrics', 'Metrics.', {
  providers: list(ProviderRef, 'Where they go. None: as mesh.yaml says.'),
  overrides: list(MetricsOverrides, 'Changes, in order.'),
  reportingInterval: one(bounded(duration, { min: 1 }), 'How often TCP connections are counted. Default 5s.'),
});

export const LogSelector: Message = message('LogSelector', 'Which traffic is logged.', {
  mode: one(WorkloadMode, 'Whether the workload is client or server.'),
});

export const AccessLoggingFilter: Message = message('AccessLoggingFilter', 'Which of it.', {
  expression: one(string, 'CEL expression that must be true.'),
});

export const AccessLogging: Message = message('AccessLogging', 'Access logs.', {
  match: one(LogSelector, 'Which traffic.'),
  providers: list(ProviderRef, 'Where they go. None: as mesh.yaml says.'),
  disabled: one(bool, 'Do not log.'),
  filter: one(AccessLoggingFilter, 'Which of it.'),
});

export const Telemetry: Message = message('Telemetry', 'Traces, metrics and logs.', {
  selector: one(PolicyWorkloadSelector, 'Workloads that it is for. None: all of the namespace.'),
  targetRef: one(PolicyTargetReference, 'Gateway or service that it is for.'),
  targetRefs: list(PolicyTargetReference, 'Gateways or services that it is for.', { maxItems: 16 }),
  tracing: list(TelemetryTracing, 'Tracing.'),
  metrics: list(Metrics, 'Metrics.'),
  accessLogging: list(AccessLogging, 'Access logs.'),
});
