import type { envoy } from '#generated/proto/types.ts';
import { protoDuration } from '../../base/proto-duration.ts';
import type { Protocol } from '../../model/protocol.ts';
import { packed } from '../../proto/message.ts';

export type NetworkFilter = envoy.config.listener.v3.Filter;
type TcpProxy = envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy;

export interface TcpProxyInput {
  readonly statPrefix: string;
  /** One cluster, or several with their weights. */
  readonly clusters: string | readonly { readonly name: string; readonly weight: number }[];
  /** In Go's notation. */
  readonly idleTimeout?: string | undefined;
  readonly maxConnectionDuration?: string | undefined;
  readonly hashesSource?: boolean | undefined;
  readonly tunnel?: { readonly target: string; readonly post: boolean } | undefined;
  readonly accessLog: TcpProxy['accessLog'];
}

/** The last filter of a chain that passes bytes on. */
export function tcpProxy(input: TcpProxyInput): NetworkFilter {
  const { statPrefix, clusters, idleTimeout, maxConnectionDuration, hashesSource, tunnel, accessLog = [] } = input;
  const message: TcpProxy = {
    statPrefix,
    ...(typeof clusters === 'string' ? { cluster: clusters } : { weightedClusters: { clusters } }),
    ...(idleTimeout === undefined ? {} : { idleTimeout: protoDuration(idleTimeout) }),
    ...(maxConnectionDuration === undefined
      ? {}
      : { maxDownstreamConnectionDuration: protoDuration(maxConnectionDuration) }),
    ...(hashesSource ? { hashPolicy: [{ sourceIp: {} }] } : {}),
    ...(tunnel === undefined
      ? {}
      : { tunnelingConfig: { hostname: tunnel.target, ...(tunnel.post ? { usePost: true } : {}) } }),
    ...(accessLog.length > 0 ? { accessLog } : {}),
  };
  return {
    name: 'envoy.filters.network.tcp_proxy',
    typedConfig: packed('envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy', message),
  };
}

/** Protocols whose filters the operator of the control plane has switched on. */
export interface ProtocolFilters {
  readonly mongo: boolean;
  readonly redis: boolean;
  readonly mysql: boolean;
}

const REDIS_TIMEOUT = '5s';

function mongoProxy(statPrefix: string): NetworkFilter {
  return {
    name: 'envoy.filters.network.mongo_proxy',
    typedConfig: packed('envoy.extensions.filters.network.mongo_proxy.v3.MongoProxy', { statPrefix }),
  };
}

/** The filter is not in every build of Envoy. */
function mysqlProxy(statPrefix: string): NetworkFilter {
  return {
    name: 'envoy.filters.network.mysql_proxy',
    typedConfig: packed('envoy.extensions.filters.network.mysql_proxy.v3.MySQLProxy', { statPrefix }),
  };
}

/** It ends the chain: commands are routed, not bytes. Of several clusters the first gets them all. */
function redisProxy({ statPrefix, clusters }: TcpProxyInput): NetworkFilter {
  const cluster = typeof clusters === 'string' ? clusters : (clusters[0]?.name ?? '');
  return {
    name: 'envoy.filters.network.redis_proxy',
    typedConfig: packed('envoy.extensions.filters.network.redis_proxy.v3.RedisProxy', {
      statPrefix,
      latencyInMicros: true,
      settings: { opTimeout: REDIS_TIMEOUT },
      prefixRoutes: { catchAllRoute: { cluster } },
    }),
  };
}

/**
 * What stands at the end of a chain for a port of this protocol.
 * @see istio/istio pilot/pkg/networking/core/networkfilter.go `buildNetworkFiltersStack`
 */
export function terminalFilters(
  input: TcpProxyInput,
  protocol: Protocol,
  { mongo, redis, mysql }: ProtocolFilters,
): readonly NetworkFilter[] {
  if (protocol === 'Redis' && redis) return [redisProxy(input)];
  const own =
    protocol === 'Mongo' && mongo
      ? [mongoProxy(input.statPrefix)]
      : protocol === 'MySQL' && mysql
        ? [mysqlProxy(input.statPrefix)]
        : [];
  return [...own, tcpProxy(input)];
}
