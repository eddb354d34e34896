import type { envoy } from '#generated/proto/types.ts';
import type { InterceptionMode } from '../../model/proxy.ts';
import type { IpFamilies } from '../../model/scope.ts';
import { type AccessLogs, NO_ACCESS_LOGS } from '../filters/access-log.ts';
import { networkFilters } from '../filters/network-filters.ts';
import { tcpProxy } from '../filters/tcp-proxy.ts';
import { BLACK_HOLE_CLUSTER } from '../names.ts';
import { catchAllVirtualHost, outboundRouteConfiguration } from '../routes/configuration.ts';
import { additionalAddresses, listenerAddress, WILDCARD_IPV4, wildcards } from './addresses.ts';
import { type HttpSettings, outboundHttp, type TcpSettings } from './chain-settings.ts';
import { HTTP_INSPECTOR } from './listener-filters.ts';
import { plaintextHttpAlpn } from './listener-protocol.ts';
import { unknownTrafficFilters } from './outbound.ts';

type Listener = envoy.config.listener.v3.Listener;
type FilterChain = envoy.config.listener.v3.FilterChain;

export const VIRTUAL_OUTBOUND = 'virtualOutbound';

export interface VirtualOutboundInput {
  readonly families: IpFamilies;
  /** Both families of a proxy that has two are listened on. */
  readonly dualStack: boolean;
  /** `NONE` has no such listener. */
  readonly interceptionMode: Exclude<InterceptionMode, 'NONE'>;
  /** MeshConfig `proxyListenPort`. */
  readonly port: number;
  /** The cluster of connections to places that no other listener is for. */
  readonly unknownTraffic: string;
  readonly tcp: TcpSettings;
  /** Where unknown hosts are resolved by the request: how HTTP is spoken. */
  readonly dynamicHosts: HttpSettings | undefined;
}

/**
 * Ends connections to a listener's own port without forwarding: they would come back to it without end.
 * @param name of the chain
 */
export function ownPortChain(name: string, port: number): FilterChain {
  const blackHole = tcpProxy({
    statPrefix: BLACK_HOLE_CLUSTER,
    clusters: BLACK_HOLE_CLUSTER,
    accessLog: NO_ACCESS_LOGS.tcp,
  });
  return { name, filterChainMatch: { destinationPort: port }, filters: [blackHole] };
}

function ownOutboundPortChain(port: number, { statsFilters }: TcpSettings): FilterChain {
  const refusing = ownPortChain(`${VIRTUAL_OUTBOUND}-blackhole`, port);
  return { ...refusing, filters: networkFilters({ statsFilters, terminal: refusing.filters ?? [] }) };
}

function dynamicHostsChain(http: HttpSettings): FilterChain {
  const { attemptCount, xForwardedHost } = http.proxy.proxyHeaders ?? {};
  const virtualHost = catchAllVirtualHost({
    unknownHosts: 'dynamic-dns',
    includeRequestAttemptCount: attemptCount?.disabled !== true,
    appendXForwardedHost: xForwardedHost?.enabled === true,
  });
  return {
    name: `${VIRTUAL_OUTBOUND}-catchall-tcp-http`,
    filterChainMatch: { applicationProtocols: plaintextHttpAlpn(http.switches.http10) },
    filters: [
      outboundHttp(
        {
          statPrefix: `outbound_${VIRTUAL_OUTBOUND}_allow_any_dynamic_dns`,
          port: 0,
          route: outboundRouteConfiguration('allow_any_dynamic_dns', [virtualHost]),
        },
        http,
      ),
    ],
  };
}

function otherAddresses({ families, dualStack, tcp }: VirtualOutboundInput): readonly string[] {
  const [, ...others] = wildcards(families);
  if (dualStack && others.length > 0) return others;
  return tcp.switches.ipv4BesideIpv6 && families === 'IPv6' ? [WILDCARD_IPV4] : [];
}

/** Loggers of the listener itself. */
export function listenerLog({ listener }: AccessLogs): Pick<Listener, 'accessLog'> {
  return listener.length > 0 ? { accessLog: listener } : {};
}

/**
 * The listener to which the machine redirects the workload's connections. It hands them to the listener for the place where
 * they were meant to go, and itself takes those that have none.
 *
 * @see istio/istio pilot/pkg/networking/core/listener_builder.go `buildVirtualOutboundListener`
 */
export function virtualOutboundListener(input: VirtualOutboundInput): Listener {
  const { families, interceptionMode, port, unknownTraffic, tcp, dynamicHosts } = input;
  const additional = additionalAddresses(otherAddresses(input), port);
  const { connectionsPerEvent } = tcp.switches;
  return {
    name: VIRTUAL_OUTBOUND,
    address: listenerAddress(wildcards(families)[0], port),
    ...(additional === undefined ? {} : { additionalAddresses: additional }),
    ...(interceptionMode === 'TPROXY' ? { transparent: true } : {}),
    useOriginalDst: true,
    trafficDirection: 'OUTBOUND',
    ...(connectionsPerEvent > 0 ? { maxConnectionsToAcceptPerSocketEvent: connectionsPerEvent } : {}),
    ...(dynamicHosts === undefined ? {} : { listenerFilters: [HTTP_INSPECTOR] }),
    filterChains: [
      ownOutboundPortChain(port, tcp),
      ...(dynamicHosts === undefined ? [] : [dynamicHostsChain(dynamicHosts)]),
      { name: `${VIRTUAL_OUTBOUND}-catchall-tcp`, filters: unknownTrafficFilters(unknownTraffic, tcp) },
    ],
    ...listenerLog(tcp.accessLogs),
  };
}
