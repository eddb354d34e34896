import { parseDuration } from '../base/duration.ts';
import { DEFAULT_LISTENER_SWITCHES, type ListenerSwitches } from '../envoy/listeners/switches.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const TRUE = new Set(['1', 't', 'true']);
const FALSE = new Set(['0', 'f', 'false']);

/**
 * Istio's environment variables that shape listeners; what is unset, or not understood, has its default.
 * @see istio/istio pilot/pkg/features
 */
export function listenerSwitches(env: Environment): ListenerSwitches {
  const defaults = DEFAULT_LISTENER_SWITCHES;
  const flag = (name: string, otherwise: boolean): boolean => {
    const text = (env[name] ?? '').toLowerCase();
    return TRUE.has(text) || (otherwise && !FALSE.has(text));
  };
  const number = (name: string, otherwise: number, most: number): number => {
    const value = Number(env[name] || Number.NaN);
    return value >= 0 && value <= most ? value : otherwise;
  };
  const timeout = env['PILOT_GATEWAY_TRANSPORT_SOCKET_CONNECT_TIMEOUT'] ?? '';
  return {
    metadataExchange: flag('PILOT_ENABLE_METADATA_EXCHANGE', defaults.metadataExchange),
    metadataExchangeLabels: (env['PILOT_MX_ADDITIONAL_LABELS'] ?? '').split(',').filter((label) => label !== ''),
    alpn: flag('PILOT_ENABLE_ALPN_FILTER', defaults.alpn),
    persistentSessions: flag('PILOT_ENABLE_PERSISTENT_SESSION_FILTER', defaults.persistentSessions),
    proxy100Continue: flag('ENABLE_100_CONTINUE_HEADERS', defaults.proxy100Continue),
    useRemoteAddress: flag('PILOT_SIDECAR_USE_REMOTE_ADDRESS', defaults.useRemoteAddress),
    internalNetworks: flag('ENABLE_HCM_INTERNAL_NETWORKS', defaults.internalNetworks),
    mongo: flag('PILOT_ENABLE_MONGO_FILTER', defaults.mongo),
    redis: flag('PILOT_ENABLE_REDIS_FILTER', defaults.redis),
    mysql: flag('PILOT_ENABLE_MYSQL_FILTER', defaults.mysql),
    http10: flag('PILOT_HTTP10', defaults.http10),
    traceSampling: number('PILOT_TRACE_SAMPLING', defaults.traceSampling, 100),
    connectionsPerEvent: number('MAX_CONNECTIONS_PER_SOCKET_EVENT_LOOP', defaults.connectionsPerEvent, 2 ** 32 - 1),
    handshakeTimeout: parseDuration(timeout) === undefined ? defaults.handshakeTimeout : timeout,
    sidecarIngressTls: flag('ENABLE_TLS_ON_SIDECAR_INGRESS', defaults.sidecarIngressTls),
    mergesServicePorts: flag('PILOT_ALLOW_SIDECAR_SERVICE_INBOUND_LISTENER_MERGE', defaults.mergesServicePorts),
    ipv4BesideIpv6: flag('ISTIO_ENABLE_IPV4_OUTBOUND_LISTENER_FOR_IPV6_CLUSTERS', defaults.ipv4BesideIpv6),
    severalAuthorizers: flag('PILOT_ENABLE_MULTIPLE_CUSTOM_AUTHZ_PROVIDERS', defaults.severalAuthorizers),
    anyTrustDomain: flag('PILOT_SKIP_VALIDATE_TRUST_DOMAIN', defaults.anyTrustDomain),
  };
}
