import type { HttpFilterSwitches } from '../filters/http-filters.ts';
import type { ProtocolFilters } from '../filters/tcp-proxy.ts';
import type { ConnectionManagerSwitches } from './connection-manager.ts';

/** What the operator of the control plane can switch for all listeners. Istio's environment variables are named. */
export interface ListenerSwitches extends HttpFilterSwitches, ConnectionManagerSwitches, ProtocolFilters {
  /** `PILOT_HTTP10`: HTTP/1.0 is accepted from all workloads, not only from those that say so in their metadata. */
  readonly http10: boolean;
  /** `PILOT_TRACE_SAMPLING`, in percent. */
  readonly traceSampling: number;
  /** `MAX_CONNECTIONS_PER_SOCKET_EVENT_LOOP`; 0 is no limit. */
  readonly connectionsPerEvent: number;
  /** `PILOT_GATEWAY_TRANSPORT_SOCKET_CONNECT_TIMEOUT`: for a client's TLS handshake, in Go's notation; `0s` is no limit. */
  readonly handshakeTimeout: string;
  /** `ENABLE_TLS_ON_SIDECAR_INGRESS`. */
  readonly sidecarIngressTls: boolean;
  /** `PILOT_ALLOW_SIDECAR_SERVICE_INBOUND_LISTENER_MERGE`: ports that a Sidecar's ingress does not name are served too. */
  readonly mergesServicePorts: boolean;
  /** `ISTIO_ENABLE_IPV4_OUTBOUND_LISTENER_FOR_IPV6_CLUSTERS`. */
  readonly ipv4BesideIpv6: boolean;
  /** `PILOT_SKIP_VALIDATE_TRUST_DOMAIN`: any identity that the mesh's roots vouch for is accepted. */
  readonly anyTrustDomain: boolean;
  /** `PILOT_ENABLE_MULTIPLE_CUSTOM_AUTHZ_PROVIDERS`: AuthorizationPolicies of one workload may name different providers. */
  readonly severalAuthorizers: boolean;
}

export const DEFAULT_LISTENER_SWITCHES: ListenerSwitches = {
  metadataExchange: true,
  metadataExchangeLabels: [],
  alpn: true,
  persistentSessions: false,
  proxy100Continue: true,
  useRemoteAddress: false,
  internalNetworks: false,
  mongo: true,
  redis: false,
  mysql: false,
  http10: false,
  traceSampling: 1,
  connectionsPerEvent: 1,
  handshakeTimeout: '15s',
  sidecarIngressTls: false,
  mergesServicePorts: false,
  ipv4BesideIpv6: false,
  anyTrustDomain: false,
  severalAuthorizers: false,
};
