import type { envoy } from '#generated/proto/types.ts';
import { parseDuration } from '../../base/duration.ts';
import { protoDuration } from '../../base/proto-duration.ts';
import type { Protocol } from '../../model/protocol.ts';
import { hostDnsCache } from '../dns-cache.ts';
import { networkFilters } from '../filters/network-filters.ts';
import { type NetworkFilter, tcpProxy, terminalFilters } from '../filters/tcp-proxy.ts';
import { type Addresses, additionalAddresses, listenerAddress } from './addresses.ts';
import { type ChainMatch, filterChainMatch, matchesAll } from './chain-match.ts';
import {
  extensionsFor,
  type HttpSettings,
  type OutboundHttpChain,
  outboundHttp,
  type TcpSettings,
} from './chain-settings.ts';
import { HTTP_INSPECTOR, TLS_INSPECTOR } from './listener-filters.ts';
import type { TcpDestination } from './tcp-destination.ts';

type Listener = envoy.config.listener.v3.Listener;
type FilterChain = envoy.config.listener.v3.FilterChain;

/** A chain that routes requests. */
export interface HttpChain {
  readonly match: ChainMatch;
  readonly http: Omit<OutboundHttpChain, 'statPrefix' | 'port'>;
}

/** A chain that passes connections on. */
export interface TcpChain {
  readonly match: ChainMatch;
  readonly tcp: TcpDestination;
  readonly protocol: Protocol;
  /** The VirtualService that gave it, as resources name it. */
  readonly path?: string;
  /** A wildcard host that is resolved by the name that the client asks for, and the port to connect to. */
  readonly dynamicHost?: { readonly host: string; readonly port: number };
}

export interface OutboundListener {
  readonly name: string;
  readonly binds: Addresses;
  readonly port: number;
  /** Bound, and not only looked up when a connection is redirected. */
  readonly toPort: boolean;
  readonly chains: readonly (HttpChain | TcpChain)[];
}

export interface OutboundListenerInput {
  readonly listener: OutboundListener;
  /** The cluster of connections that no chain takes; undefined where they are refused. */
  readonly unknownTraffic: string | undefined;
  /** Connections are spread evenly over the proxy's threads. */
  readonly exactBalance: boolean;
  /** MeshConfig `protocolDetectionTimeout`. */
  readonly detectionTimeout: string;
  readonly tcp: TcpSettings;
  /** Needed where there is a chain for HTTP. */
  readonly http: HttpSettings | undefined;
}

const FALL_THROUGH_CHAIN = 'PassthroughFilterChain';

/** The filters for connections of which nothing is known but where they were meant to go. */
export function unknownTrafficFilters(cluster: string, settings: TcpSettings): readonly NetworkFilter[] {
  const { idleTimeout, accessLogs, statsFilters } = settings;
  const proxy = tcpProxy({ statPrefix: cluster, clusters: cluster, idleTimeout, accessLog: accessLogs.tcp });
  return networkFilters({ statsFilters, terminal: [proxy] });
}

function chainFilters(
  chain: HttpChain | TcpChain,
  { listener, tcp, http }: OutboundListenerInput,
): readonly NetworkFilter[] {
  const { name, port } = listener;
  const extensions = extensionsFor(tcp.connectionExtensions, { mode: 'CLIENT', port });
  if ('http' in chain) {
    if (http === undefined) throw new Error(`listener ${name} speaks HTTP, but nothing says how`);
    const manager = outboundHttp({ ...chain.http, statPrefix: `outbound_${name}`, port }, http);
    return networkFilters({ extensions, terminal: [manager] });
  }
  const destination = { ...chain.tcp, idleTimeout: chain.tcp.idleTimeout ?? tcp.idleTimeout };
  return networkFilters({
    statsFilters: tcp.statsFilters,
    extensions,
    ...(chain.dynamicHost === undefined
      ? {}
      : {
          dynamicHost: {
            cache: hostDnsCache(chain.dynamicHost.host, tcp.dnsLookupFamily),
            port: chain.dynamicHost.port,
          },
        }),
    terminal: terminalFilters({ ...destination, accessLog: tcp.accessLogs.tcp }, chain.protocol, tcp.switches),
  });
}

function filterChain(chain: HttpChain | TcpChain, input: OutboundListenerInput): FilterChain {
  const { handshakeTimeout } = input.tcp.switches;
  const match = filterChainMatch(chain.match);
  return {
    ...(match === undefined ? {} : { filterChainMatch: match }),
    filters: chainFilters(chain, input),
    ...('path' in chain && chain.path !== undefined
      ? { metadata: { filterMetadata: { istio: { config: chain.path } } } }
      : {}),
    ...(parseDuration(handshakeTimeout) === 0
      ? {}
      : { transportSocketConnectTimeout: protoDuration(handshakeTimeout) }),
  };
}

/** A chain that takes all is what is left over for the others; alone it needs no such place. */
function filterChains(input: OutboundListenerInput): Pick<Listener, 'filterChains' | 'defaultFilterChain'> {
  const { listener, unknownTraffic, tcp } = input;
  const withMatch = listener.chains.filter(({ match }) => !matchesAll(match)).map((chain) => filterChain(chain, input));
  const rest = listener.chains.filter(({ match }) => matchesAll(match)).at(-1);
  if (rest !== undefined) {
    const chain = filterChain(rest, input);
    return withMatch.length === 0 ? { filterChains: [chain] } : { filterChains: withMatch, defaultFilterChain: chain };
  }
  const filters = unknownTraffic === undefined ? [] : unknownTrafficFilters(unknownTraffic, tcp);
  const defaultFilterChain = { name: FALL_THROUGH_CHAIN, filterChainMatch: {}, filters };
  return { filterChains: withMatch, defaultFilterChain };
}

/**
 * A listener for services that the workload calls.
 * @see istio/istio pilot/pkg/networking/core/listener.go `buildListenerFromEntry`
 */
export function outboundListener(input: OutboundListenerInput): Listener {
  const { listener, exactBalance, detectionTimeout, tcp } = input;
  const [primary, ...others] = listener.binds;
  const inspectsTls = listener.chains.some(
    (chain) => (chain.match.serverNames ?? []).length > 0 || ('tcp' in chain && chain.dynamicHost !== undefined),
  );
  const inspectsHttp = listener.chains.some(({ match }) => (match.applicationProtocols ?? []).length > 0);
  const inspectors = [...(inspectsTls ? [TLS_INSPECTOR] : []), ...(inspectsHttp ? [HTTP_INSPECTOR] : [])];
  const additional = additionalAddresses(others, listener.port);
  const { connectionsPerEvent } = tcp.switches;
  return {
    name: listener.name,
    address: listenerAddress(primary, listener.port),
    ...(additional === undefined ? {} : { additionalAddresses: additional }),
    trafficDirection: 'OUTBOUND',
    continueOnListenerFiltersTimeout: true,
    // To wait for a client to speak breaks protocols whose servers speak first, so it is only done where it is asked for.
    listenerFiltersTimeout: inspectsHttp ? protoDuration(detectionTimeout) : '0s',
    ...(inspectors.length > 0 ? { listenerFilters: inspectors } : {}),
    ...(exactBalance ? { connectionBalanceConfig: { exactBalance: {} } } : {}),
    ...(listener.toPort
      ? connectionsPerEvent > 0
        ? { maxConnectionsToAcceptPerSocketEvent: connectionsPerEvent }
        : {}
      : { bindToPort: false }),
    ...filterChains(input),
  };
}
