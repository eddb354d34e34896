import type { ConnectionPoolSettings, RetryBudget, TcpKeepalive } from '#generated/config/specs.ts';
import type { envoy } from '#generated/proto/types.ts';
import { parseDuration } from '../../base/duration.ts';
import { protoDuration } from '../../base/proto-duration.ts';

type Cluster = envoy.config.cluster.v3.Cluster;
type Thresholds = envoy.config.cluster.v3.CircuitBreakers.Thresholds;

const UNLIMITED = 2 ** 32 - 1;

export interface ConnectionPoolInput {
  readonly pool: ConnectionPoolSettings | undefined;
  readonly retryBudget?: RetryBudget | undefined;
  readonly mesh: { readonly connectTimeout?: string | undefined; readonly tcpKeepalive?: TcpKeepalive | undefined };
}

/**
 * Limits and timeouts of connections; zero means unset everywhere. Without limits of its own a cluster has none at all.
 * @see istio/istio pilot/pkg/networking/core/cluster_traffic_policy.go `applyConnectionPool`
 */
export function connectionPool({ pool, retryBudget, mesh }: ConnectionPoolInput): Cluster {
  const { http = {}, tcp = {} } = pool ?? {};
  const connectTimeout = tcp.connectTimeout ?? mesh.connectTimeout;
  const thresholds: Thresholds = {
    maxConnections: positive(tcp.maxConnections),
    maxPendingRequests: positive(http.http1MaxPendingRequests),
    maxRequests: positive(http.http2MaxRequests),
    maxRetries: positive(http.maxRetries),
    ...(retryBudget === undefined ? {} : { retryBudget: budget(retryBudget) }),
  };
  const keepalive = [mesh.tcpKeepalive, tcp.tcpKeepalive].filter((settings) => settings !== undefined);
  return {
    ...(connectTimeout === undefined ? {} : { connectTimeout: protoDuration(connectTimeout) }),
    circuitBreakers: { thresholds: [thresholds] },
    ...(keepalive.length > 0
      ? { upstreamConnectionOptions: { tcpKeepalive: Object.assign({}, ...keepalive.map(tcpKeepalive)) } }
      : {}),
  };
}

function positive(value: number | undefined): number {
  return value !== undefined && value > 0 ? value : UNLIMITED;
}

function budget({ percent = 20, minRetryConcurrency, budgetInterval }: RetryBudget): Thresholds['retryBudget'] {
  return {
    budgetPercent: { value: percent },
    ...(budgetInterval ? { budgetInterval: protoDuration(budgetInterval) } : {}),
    minRetryConcurrency: minRetryConcurrency || 3,
  };
}

function tcpKeepalive({ probes = 0, time, interval }: TcpKeepalive): envoy.config.core.v3.TcpKeepalive {
  return {
    ...(probes > 0 ? { keepaliveProbes: probes } : {}),
    ...(time ? { keepaliveTime: seconds(time) } : {}),
    ...(interval ? { keepaliveInterval: seconds(interval) } : {}),
  };
}

function seconds(duration: string): number {
  return Math.trunc((parseDuration(duration) ?? 0) / 1000);
}
