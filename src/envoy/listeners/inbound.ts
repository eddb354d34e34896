import type { HTTPRetry } from '#generated/config/specs.ts';
import type { envoy } from '#generated/proto/types.ts';
import { protoDuration } from '../../base/proto-duration.ts';
import { isHttp2 } from '../../model/protocol.ts';
import type { InterceptionMode } from '../../model/proxy.ts';
import type { AccessPolicies } from '../filters/access-policies.ts';
import { networkFilters } from '../filters/network-filters.ts';
import { type NetworkFilter, terminalFilters } from '../filters/tcp-proxy.ts';
import { statName } from '../names.ts';
import { inboundRouteConfiguration } from '../routes/inbound.ts';
import { type Addresses, additionalAddresses, listenerAddress, listenerName } from './addresses.ts';
import { extensionsFor, type HttpSettings, inboundHttp } from './chain-settings.ts';
import { type InboundMatch, inboundMatches, ownTlsMatches } from './inbound-matches.ts';
import type { InboundPort } from './inbound-ports.ts';
import { type InboundTls, meshTlsSocket } from './inbound-tls.ts';
import { inspectors, ORIGINAL_DESTINATION, ORIGINAL_SOURCE } from './listener-filters.ts';
import { listenerProtocol } from './listener-protocol.ts';
import { serverTlsSocket } from './server-tls.ts';
import { listenerLog, ownPortChain } from './virtual-outbound.ts';

type Listener = envoy.config.listener.v3.Listener;
type FilterChain = envoy.config.listener.v3.FilterChain;
type TransportSocket = envoy.config.core.v3.TransportSocket;

export const VIRTUAL_INBOUND = 'virtualInbound';

/** What all inbound filter chains of a proxy have in common. */
export interface InboundSettings {
  readonly http: HttpSettings;
  readonly access: AccessPolicies;
  /** Undefined: the proxy can have no certificate, so it takes plaintext, and where that is forbidden nothing. */
  readonly tls: InboundTls | undefined;
  /** MeshConfig `inboundClusterStatName`; empty: the cluster's name. */
  readonly statPattern: string;
  /** MeshConfig `defaultInboundHttpRetryPolicy`. */
  readonly retry: HTTPRetry | undefined;
  /** MeshConfig `protocolDetectionTimeout`. */
  readonly detectionTimeout: string;
  /** Connections are spread evenly over the proxy's threads. */
  readonly exactBalance: boolean;
  /** Both families of a proxy that has two are listened on. */
  readonly dualStack: boolean;
}

function isCatchAll({ port }: InboundPort): boolean {
  return port.port === 0;
}

function chainName(port: InboundPort, speaks: 'HTTP' | 'TCP'): string {
  if (!isCatchAll(port)) return listenerName(port.binds[0], port.targetPort);
  return speaks === 'HTTP' ? `${VIRTUAL_INBOUND}-catchall-http` : VIRTUAL_INBOUND;
}

function peerMetadata({ http }: InboundSettings): { readonly peerMetadata?: { readonly labels: readonly string[] } } {
  const { metadataExchange, metadataExchangeLabels } = http.switches;
  return http.istioExtensions && metadataExchange ? { peerMetadata: { labels: metadataExchangeLabels } } : {};
}

/** What every chain has that speaks no HTTP. */
function connectionFilters(settings: InboundSettings) {
  return { ...peerMetadata(settings), statsFilters: settings.http.statsFilters };
}

function httpFilter(port: InboundPort, settings: InboundSettings): NetworkFilter {
  const { cluster, hostname } = port;
  const { protocol } = port.port;
  const route = inboundRouteConfiguration({ cluster, hostname, port: port.port.port, protocol, retry: settings.retry });
  return inboundHttp(
    {
      port: port.targetPort,
      statPrefix: isCatchAll(port) ? cluster : `inbound_${chainName(port, 'HTTP')}`,
      route,
      grpcWeb: protocol === 'GRPCWeb',
      http2: isHttp2(protocol),
      access: settings.access,
    },
    settings.http,
  );
}

function tcpFilters(port: InboundPort, settings: InboundSettings): readonly NetworkFilter[] {
  const { cluster, hostname, kubernetes } = port;
  const { http, statPattern } = settings;
  const parts = { hostname, subset: '', port: port.port, ...(kubernetes ? { kubernetes } : {}) };
  return terminalFilters(
    {
      statPrefix: statPattern === '' ? cluster : statName(statPattern, parts),
      clusters: cluster,
      idleTimeout: http.idleTimeout,
      accessLog: http.accessLogs.tcp,
    },
    port.port.protocol,
    http.switches,
  );
}

function transportSocket(port: InboundPort, match: InboundMatch, tls: InboundTls): TransportSocket | undefined {
  if (!match.endsTls) return undefined;
  return usesOwnTls(port) ? serverTlsSocket({ ...tls, settings: port.tls ?? {} }) : meshTlsSocket(match.speaks, tls);
}

/** TLS of a Sidecar's own would meet the mesh's on the same port; it holds only where there is none. */
function usesOwnTls({ tls, mode }: InboundPort): boolean {
  return tls !== undefined && mode === 'DISABLE';
}

function chain(port: InboundPort, match: InboundMatch, settings: InboundSettings): FilterChain {
  const { tls, access } = settings;
  const { applicationProtocols, transportProtocol, speaks } = match;
  const socket = tls === undefined ? undefined : transportSocket(port, match, tls);
  const traffic = { mode: 'SERVER', port: port.targetPort } as const;
  const extensions = extensionsFor(settings.http.connectionExtensions, traffic);
  const filters =
    speaks === 'HTTP'
      ? networkFilters({ ...peerMetadata(settings), extensions, terminal: [httpFilter(port, settings)] })
      : networkFilters({ ...connectionFilters(settings), access, extensions, terminal: tcpFilters(port, settings) });
  return {
    name: chainName(port, speaks),
    filterChainMatch: {
      ...(port.targetPort > 0 ? { destinationPort: port.targetPort } : {}),
      ...(applicationProtocols ? { applicationProtocols } : {}),
      transportProtocol,
    },
    filters,
    ...(socket === undefined ? {} : { transportSocket: socket }),
    ...(port.path === undefined ? {} : { metadata: { filterMetadata: { istio: { config: port.path } } } }),
  };
}

/** Without a certificate mutual TLS is impossible, and where nothing else is allowed every connection ends at once. */
function refusingChain(port: InboundPort): FilterChain {
  const match = port.targetPort > 0 ? { destinationPort: port.targetPort } : {};
  return { ...ownPortChain(chainName(port, 'TCP'), 0), filterChainMatch: match };
}

/**
 * The filter chains for a port of the workload: one for each way in which its connections come.
 * @see istio/istio pilot/pkg/networking/core/listener_inbound.go `inboundChainForOpts`
 */
function portChains(port: InboundPort, settings: InboundSettings): readonly FilterChain[] {
  const protocol = listenerProtocol(port.port.protocol) ?? 'TCP';
  const { http10 } = settings.http.switches;
  if (settings.tls === undefined) {
    if (port.mode === 'STRICT' || usesOwnTls(port)) return [refusingChain(port)];
    return inboundMatches(protocol, 'DISABLE', http10).map((match) => chain(port, match, settings));
  }
  const matches = usesOwnTls(port) ? ownTlsMatches(protocol) : inboundMatches(protocol, port.mode, http10);
  return matches.map((match) => chain(port, match, settings));
}

interface Place {
  readonly name: string;
  readonly binds: Addresses;
  readonly port: number;
}

function listenerAt({ name, binds, port }: Place, chains: readonly FilterChain[], settings: InboundSettings): Listener {
  const { http, detectionTimeout, exactBalance, dualStack } = settings;
  const [primary, ...others] = binds;
  const additional = dualStack ? additionalAddresses(others, port) : undefined;
  const { connectionsPerEvent } = http.switches;
  return {
    name,
    address: listenerAddress(primary, port),
    ...(additional === undefined ? {} : { additionalAddresses: additional }),
    trafficDirection: 'INBOUND',
    continueOnListenerFiltersTimeout: true,
    listenerFiltersTimeout: protoDuration(detectionTimeout),
    ...(connectionsPerEvent > 0 ? { maxConnectionsToAcceptPerSocketEvent: connectionsPerEvent } : {}),
    ...(exactBalance ? { connectionBalanceConfig: { exactBalance: {} } } : {}),
    ...listenerLog(http.accessLogs),
    filterChains: chains,
  };
}

export interface VirtualInboundInput {
  /** `NONE` has no such listener. */
  readonly interceptionMode: Exclude<InterceptionMode, 'NONE'>;
  readonly wildcards: Addresses;
  /** MeshConfig `proxyInboundListenPort`. */
  readonly port: number;
  /** All that has no chain of its own, then the ports that have, if they are not bound. */
  readonly ports: readonly InboundPort[];
  readonly settings: InboundSettings;
}

/** Connections to where redirected ones come would come back to it without end. */
function ownInboundPortChain(port: number, settings: InboundSettings): FilterChain {
  const refusing = ownPortChain(`${VIRTUAL_INBOUND}-blackhole`, port);
  const terminal = refusing.filters ?? [];
  const filters = networkFilters({ ...connectionFilters(settings), terminal });
  return { ...refusing, filters };
}

/**
 * The listener to which the machine redirects connections to the workload.
 * @see istio/istio pilot/pkg/networking/core/listener_inbound.go `inboundVirtualListener`
 */
export function virtualInboundListener(input: VirtualInboundInput): Listener {
  const { interceptionMode, wildcards, port, ports, settings } = input;
  const chains = [
    ownInboundPortChain(port, settings),
    ...ports.flatMap((inboundPort) => portChains(inboundPort, settings)),
  ];
  const transparent = interceptionMode === 'TPROXY';
  return {
    ...listenerAt({ name: VIRTUAL_INBOUND, binds: wildcards, port }, chains, settings),
    ...(transparent ? { transparent } : {}),
    listenerFilters: [ORIGINAL_DESTINATION, ...(transparent ? [ORIGINAL_SOURCE] : []), ...inspectors(chains)],
  };
}

/** A listener for one port that is bound itself, because nothing redirects connections to it. */
export function boundInboundListener(port: InboundPort, settings: InboundSettings): Listener {
  const chains = portChains(port, settings);
  const place = { name: listenerName(port.binds[0], port.targetPort), binds: port.binds, port: port.targetPort };
  const filters = inspectors(chains);
  return {
    ...listenerAt(place, chains, settings),
    ...(filters.length > 0 ? { listenerFilters: filters } : {}),
  };
}
