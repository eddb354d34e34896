import type { ExtensionProvider } from '#generated/config/specs.ts';
import type { stats } from '#generated/proto/types.ts';
import { protoDuration } from '../../base/proto-duration.ts';
import type { MeasuredBy, MetricChange } from '../../model/telemetry/metrics.ts';
import { packed } from '../../proto/message.ts';

type MetricConfig = stats.MetricConfig;
type PluginConfig = stats.PluginConfig;

/** What a metric of Istio's is called where it is kept; others have their own name. */
const NAMES: Readonly<Record<string, string>> = {
  REQUEST_COUNT: 'requests_total',
  REQUEST_DURATION: 'request_duration_milliseconds',
  REQUEST_SIZE: 'request_bytes',
  RESPONSE_SIZE: 'response_bytes',
  TCP_OPENED_CONNECTIONS: 'tcp_connections_opened_total',
  TCP_CLOSED_CONNECTIONS: 'tcp_connections_closed_total',
  TCP_SENT_BYTES: 'tcp_sent_bytes_total',
  TCP_RECEIVED_BYTES: 'tcp_received_bytes_total',
  GRPC_REQUEST_MESSAGES: 'request_messages_total',
  GRPC_RESPONSE_MESSAGES: 'response_messages_total',
};

/** A filter of Istio's that keeps its metrics. HTTP connection managers and chains that pass connections on have the same. */
export interface StatsFilter {
  readonly name: string;
  readonly typedConfig: ReturnType<typeof packed>;
}

function metricConfig({ metric, dropped, tags }: MetricChange): MetricConfig {
  const removed = tags.filter(([, value]) => value === undefined).map(([name]) => name);
  const dimensions = Object.fromEntries(tags.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
  return {
    ...(Object.keys(dimensions).length > 0 ? { dimensions } : {}),
    name: NAMES[metric] ?? metric,
    ...(removed.length > 0 ? { tagsToRemove: removed } : {}),
    ...(dropped ? { drop: true } : {}),
  };
}

/**
 * The filters that keep metrics for the providers that ask for them. Only an Envoy of Istio's has this filter.
 *
 * @param toldHosts what clients say as host counts: of outbound traffic, where the service may be unknown
 * @see istio/istio pilot/pkg/model/telemetry.go `generateStatsConfig`
 */
export function statsFilters(
  measuredBy: readonly MeasuredBy[],
  provider: (name: string) => ExtensionProvider | undefined,
  toldHosts: boolean,
): readonly StatsFilter[] {
  return measuredBy
    .filter(({ provider: name }) => provider(name)?.prometheus !== undefined)
    .map(({ changes, reportingInterval }) => {
      const config: PluginConfig = {
        ...(toldHosts ? {} : { disableHostHeaderFallback: true }),
        ...(reportingInterval === undefined ? {} : { tcpReportingDuration: protoDuration(reportingInterval) }),
        ...(changes.length > 0 ? { metrics: changes.map(metricConfig) } : {}),
      };
      return { name: 'istio.stats', typedConfig: packed('stats.PluginConfig', config) };
    });
}
