/** What every Envoy has that can serve as a proxy: a list with it is a whole one. */
const IN_EVERY_LIST = 'envoy.filters.network.http_connection_manager';

/** Extensions for logs and traces that an Envoy may have been built without. */
const OPTIONAL: readonly string[] = [
  'envoy.access_loggers.extension_filters.cel',
  'envoy.access_loggers.file',
  'envoy.access_loggers.http_grpc',
  'envoy.access_loggers.open_telemetry',
  'envoy.formatter.req_without_query',
  'envoy.tcp_grpc_access_log',
  'envoy.tracers.datadog',
  'envoy.tracers.opentelemetry',
  'envoy.tracers.opentelemetry.resource_detectors.dynatrace',
  'envoy.tracers.opentelemetry.resource_detectors.environment',
  'envoy.tracers.opentelemetry.samplers.dynatrace',
  'envoy.tracers.skywalking',
  'envoy.tracers.zipkin',
];

/**
 * Which of these a node was built without.
 *
 * @param listed what the node lists; a list that is not whole says nothing of what is missing
 */
export function lackedExtensions(listed: readonly string[]): readonly string[] {
  if (!listed.includes(IN_EVERY_LIST)) return [];
  const known = new Set(listed);
  return OPTIONAL.filter((name) => !known.has(name));
}
