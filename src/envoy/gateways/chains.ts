import type { ServerTLSSettings, VirtualService } from '#generated/config/specs.ts';
import type { Hostname } from '../../base/host.ts';
import type { Config } from '../../config/config.ts';
import type { MergedPort, MergeStyle } from '../../model/merged-gateway.ts';
import { type MergedServer, passesTls, routesRequests, serverNames } from '../../model/merged-gateway-server.ts';
import { isHttp, type Protocol } from '../../model/protocol.ts';
import type { ServicePort } from '../../model/service.ts';
import type { ChainMatch } from '../listeners/chain-match.ts';
import type { TcpDestination } from '../listeners/tcp-destination.ts';
import { type ConnectionRoute, tcpRoute, tlsRoutes } from './l4-routes.ts';

interface Chain {
  readonly match: ChainMatch;
  /** TLS ends here; absent: what comes is taken as it is. */
  readonly tls?: ServerTLSSettings;
}

/** A chain that routes requests. */
export interface RequestChain extends Chain {
  readonly kind: 'http';
  /** The route configuration's name. */
  readonly route: string;
  /** Of the server, which counts its requests under it; may be empty. */
  readonly name: string;
  /** Browsers' form of gRPC is understood. */
  readonly grpcWeb: boolean;
}

/** A chain that passes connections on. */
export interface ConnectionChain extends Chain {
  readonly kind: 'tcp';
  readonly tcp: TcpDestination;
  readonly protocol: Protocol;
  /** Of the server. */
  readonly port: number;
  /** What comes is encrypted for somebody else, whose policies hold. */
  readonly unopened: boolean;
}

export type GatewayChain = RequestChain | ConnectionChain;

/** A cluster to which mutual TLS is passed on by the name that its clients ask for. */
export interface PassedCluster {
  readonly host: Hostname;
  readonly serverName: string;
  readonly protocol: Protocol;
  readonly tcp: TcpDestination;
}

export interface GatewayChainsInput {
  /** All at one place, in order. */
  readonly ports: readonly MergedPort[];
  /** VirtualServices that are bound to a gateway, in order of precedence. */
  readonly virtualServices: (gateway: string) => readonly Config<VirtualService>[];
  readonly destination: (route: ConnectionRoute, port: ServicePort) => TcpDestination;
  /** Those whose host is covered by one of these. */
  readonly passedClusters: (hosts: readonly Hostname[]) => readonly PassedCluster[];
  readonly style: MergeStyle;
}

/** ALPN of mutual TLS in the mesh: nothing else is passed on by SNI alone. */
const MESH_ALPN: readonly string[] = ['istio', 'istio-peer-exchange', 'istio-http/1.0', 'istio-http/1.1', 'istio-h2'];

/**
 * The filter chains of one place: one for all HTTP servers, one for each other server, or one for each name that it passes on.
 * @see istio/istio pilot/pkg/networking/core/gateway.go `buildGatewayTCPBasedFilterChains`
 */
export function gatewayChains(input: GatewayChainsInput): readonly GatewayChain[] {
  const passed = new Set<Hostname>();
  const chains = input.ports.flatMap((port): readonly GatewayChain[] => {
    if (isHttp(port.protocol)) {
      return [{ kind: 'http', match: {}, route: port.route, name: '', grpcWeb: port.protocol === 'GRPCWeb' }];
    }
    return port.servers.flatMap((server): readonly GatewayChain[] => {
      if (server.tls !== undefined && routesRequests(server)) return [httpsChain(server, server.tls)];
      if (!passesTls(server)) return tcpChain(server, input);
      return server.tls?.mode === 'AUTO_PASSTHROUGH' ? passedChains(server, input) : tlsChains(server, input, passed);
    });
  });
  return input.style === 'istiod' ? chains : distinct(chains);
}

function httpsChain(server: MergedServer, tls: ServerTLSSettings): RequestChain {
  return {
    kind: 'http',
    match: { serverNames: serverNames(server) },
    tls,
    route: server.route,
    name: server.name,
    grpcWeb: false,
  };
}

function portOf({ port, portName: name, protocol }: MergedServer): ServicePort {
  return { name, port, protocol };
}

function tcpChain(server: MergedServer, input: GatewayChainsInput): readonly ConnectionChain[] {
  const route = tcpRoute(server, input.virtualServices(server.gateway));
  if (route === undefined) return [];
  const { tls, protocol } = server;
  return [
    {
      kind: 'tcp',
      match: tls === undefined ? {} : { serverNames: serverNames(server) },
      ...(tls && { tls }),
      tcp: input.destination(route, portOf(server)),
      protocol,
      port: server.port,
      unopened: false,
    },
  ];
}

/** Of two matches with a name in common the first counts. @param passed names that have a chain; new ones are added */
function tlsChains(server: MergedServer, input: GatewayChainsInput, passed: Set<Hostname>): readonly ConnectionChain[] {
  return tlsRoutes(server, input.virtualServices(server.gateway)).flatMap((route): readonly ConnectionChain[] => {
    const { sniHosts } = route;
    if (input.style === 'istiod' && sniHosts.some((host) => passed.has(host))) return [];
    for (const host of sniHosts) passed.add(host);
    const tcp = input.destination(route, portOf(server));
    const { protocol } = server;
    const { port } = server;
    return [{ kind: 'tcp', match: { serverNames: sniHosts }, tcp, protocol, port, unopened: false }];
  });
}

function passedChains(server: MergedServer, input: GatewayChainsInput): readonly ConnectionChain[] {
  return input.passedClusters(serverNames(server)).map(({ serverName, protocol, tcp }) => ({
    kind: 'tcp',
    match: { serverNames: [serverName], applicationProtocols: MESH_ALPN },
    tcp,
    protocol,
    port: server.port,
    unopened: true,
  }));
}

const ANY_NAME = '*';

/** A listener with two chains for the same connections is refused as a whole, so the earlier chain has them. */
function distinct(chains: readonly GatewayChain[]): readonly GatewayChain[] {
  const taken = new Set<string>();
  return chains.flatMap((chain): readonly GatewayChain[] => {
    const { serverNames: names = [], applicationProtocols = [] } = chain.match;
    const isFree = (name: string): boolean => {
      const id = `${name.toLowerCase()} ${applicationProtocols.join()}`;
      return !taken.has(id) && taken.add(id) !== undefined;
    };
    if (names.length === 0 || names.includes(ANY_NAME)) return isFree(ANY_NAME) ? [chain] : [];
    const free = names.filter((name) => isServerName(name) && isFree(name));
    return free.length === 0 ? [] : [{ ...chain, match: { ...chain.match, serverNames: free } }];
  });
}

/** Envoy knows wildcards of whole labels alone. */
function isServerName(name: string): boolean {
  return !name.startsWith('*') || name.startsWith('*.');
}
