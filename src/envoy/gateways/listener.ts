import type { ServerTLSSettings, Topology } from '#generated/config/specs.ts';
import type { envoy } from '#generated/proto/types.ts';
import { parseDuration } from '../../base/duration.ts';
import { protoDuration } from '../../base/proto-duration.ts';
import type { AccessPolicies } from '../filters/access-policies.ts';
import { networkFilters } from '../filters/network-filters.ts';
import { type NetworkFilter, terminalFilters } from '../filters/tcp-proxy.ts';
import { type Addresses, additionalAddresses, listenerAddress } from '../listeners/addresses.ts';
import { filterChainMatch } from '../listeners/chain-match.ts';
import { extensionsFor, gatewayHttp, type HttpSettings } from '../listeners/chain-settings.ts';
import { connectionBufferLimit } from '../listeners/connection-settings.ts';
import { PROXY_PROTOCOL, TLS_INSPECTOR } from '../listeners/listener-filters.ts';
import { type ServerTls, serverTlsSocket } from '../listeners/server-tls.ts';
import { listenerLog } from '../listeners/virtual-outbound.ts';
import type { ConnectionChain, GatewayChain, RequestChain } from './chains.ts';

type Listener = envoy.config.listener.v3.Listener;
type FilterChain = envoy.config.listener.v3.FilterChain;

export interface GatewayListenerInput {
  readonly name: string;
  readonly binds: Addresses;
  /** 0 for a Unix socket. */
  readonly port: number;
  readonly chains: readonly GatewayChain[];
  readonly http: HttpSettings;
  readonly access: AccessPolicies;
  /** ProxyConfig `gatewayTopology`. */
  readonly topology: Topology;
  /** How TLS ends; `agent`: the node has one, which serves the workload's own certificate. */
  readonly tls: Omit<ServerTls, 'settings' | 'tcp' | 'omitsIdleNames'> & { readonly agent: boolean };
  /** Connections are spread evenly over the proxy's threads. */
  readonly exactBalance: boolean;
}

/** Whether TLS needs the workload's own certificate, which only an agent serves. */
function needsAgent({ mode, credentialName = '', credentialNames = [] }: ServerTLSSettings): boolean {
  return mode === 'ISTIO_MUTUAL' || [credentialName, ...credentialNames].some((name) => name.startsWith('builtin://'));
}

function isServed({ tls }: GatewayChain, input: GatewayListenerInput): boolean {
  return input.tls.agent || tls === undefined || !needsAgent(tls);
}

function httpFilter({ route, name, grpcWeb }: RequestChain, input: GatewayListenerInput): NetworkFilter {
  const { access, topology } = input;
  const statPrefix = `outbound_${input.name}`;
  const { port } = input;
  return gatewayHttp({ statPrefix, ownStatPrefix: name, port, route, grpcWeb, access, topology }, input.http);
}

function httpFilters(chain: RequestChain, input: GatewayListenerInput): readonly NetworkFilter[] {
  const extensions = extensionsFor(input.http.connectionExtensions, { mode: 'CLIENT', port: input.port });
  return networkFilters({ extensions, terminal: [httpFilter(chain, input)] });
}

function tcpFilters(chain: ConnectionChain, input: GatewayListenerInput): readonly NetworkFilter[] {
  const { http, access } = input;
  const { metadataExchange, metadataExchangeLabels } = http.switches;
  const tellsPeer = chain.tls?.mode === 'ISTIO_MUTUAL' && http.istioExtensions && metadataExchange;
  const destination = { ...chain.tcp, idleTimeout: chain.tcp.idleTimeout ?? http.idleTimeout };
  return networkFilters({
    ...(tellsPeer ? { peerMetadata: { labels: metadataExchangeLabels } } : {}),
    statsFilters: http.statsFilters,
    ...(chain.unopened ? {} : { access }),
    extensions: chain.unopened ? [] : extensionsFor(http.connectionExtensions, { mode: 'CLIENT', port: chain.port }),
    terminal: terminalFilters({ ...destination, accessLog: http.accessLogs.tcp }, chain.protocol, http.switches),
  });
}

function filterChain(chain: GatewayChain, input: GatewayListenerInput): FilterChain {
  const { handshakeTimeout, metadataExchange } = input.http.switches;
  const match = filterChainMatch(chain.match);
  const peerExchange = input.http.istioExtensions && metadataExchange;
  return {
    ...(match === undefined ? {} : { filterChainMatch: match }),
    filters: chain.kind === 'http' ? httpFilters(chain, input) : tcpFilters(chain, input),
    ...(chain.tls === undefined
      ? {}
      : {
          transportSocket: serverTlsSocket({
            ...input.tls,
            settings: chain.tls,
            omitsIdleNames: !input.http.istioExtensions,
            ...(chain.kind === 'tcp' ? { tcp: { peerExchange } } : {}),
          }),
        }),
    ...(parseDuration(handshakeTimeout) === 0
      ? {}
      : { transportSocketConnectTimeout: protoDuration(handshakeTimeout) }),
  };
}

/**
 * A listener of a gateway.
 *
 * @returns undefined when nothing is served there: without a filter chain Envoy would refuse it
 * @see istio/istio pilot/pkg/networking/core/listener.go `buildGatewayListener`
 */
export function gatewayListener(input: GatewayListenerInput): Listener | undefined {
  const { name, binds, port, topology, http, exactBalance } = input;
  const chains = input.chains.filter((chain) => isServed(chain, input));
  if (chains.length === 0) return undefined;
  const [primary, ...others] = binds;
  const additional = additionalAddresses(others, port);
  const inspectsTls = chains.some(({ match, tls }) => (match.serverNames ?? []).length > 0 || tls !== undefined);
  const listenerFilters = [
    ...(topology.proxyProtocol === undefined ? [] : [PROXY_PROTOCOL]),
    ...(inspectsTls ? [TLS_INSPECTOR] : []),
  ];
  const { connectionsPerEvent } = http.switches;
  const bufferLimit = connectionBufferLimit(http.proxy.connectionSettings ?? {});
  return {
    name,
    address: listenerAddress(primary, port),
    ...(additional === undefined ? {} : { additionalAddresses: additional }),
    trafficDirection: 'OUTBOUND',
    ...(listenerFilters.length > 0 ? { listenerFilters } : {}),
    ...(connectionsPerEvent > 0 ? { maxConnectionsToAcceptPerSocketEvent: connectionsPerEvent } : {}),
    ...(exactBalance ? { connectionBalanceConfig: { exactBalance: {} } } : {}),
    ...(bufferLimit === undefined ? {} : { perConnectionBufferLimitBytes: bufferLimit }),
    filterChains: chains.map((chain) => filterChain(chain, input)),
    ...listenerLog(http.accessLogs),
  };
}
