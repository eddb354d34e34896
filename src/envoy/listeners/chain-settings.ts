import type { MeshNetworks, ProxyConfig, ProxyPathNormalization, Topology } from '#generated/config/specs.ts';
import type { envoy } from '#generated/proto/types.ts';
import type { Hostname } from '../../base/host.ts';
import { type ChainTraffic, type ExtensionHead, filtersTraffic } from '../../model/traffic-extension.ts';
import type { DnsLookupFamily } from '../dns-cache.ts';
import { hostDnsCache } from '../dns-cache.ts';
import type { AccessLogs } from '../filters/access-log.ts';
import type { AccessPolicies } from '../filters/access-policies.ts';
import { httpFilters } from '../filters/http-filters.ts';
import type { StatsFilter } from '../filters/metrics.ts';
import type { NetworkFilter } from '../filters/tcp-proxy.ts';
import type { HttpTracing } from '../filters/tracing.ts';
import { connectionManager } from './connection-manager.ts';
import type { ListenerSwitches } from './switches.ts';

type DnsCacheConfig = envoy.extensions.common.dynamic_forward_proxy.v3.DnsCacheConfig;
type RouteConfiguration = envoy.config.route.v3.RouteConfiguration;

/** What all filter chains of a proxy in one direction have in common. */
export interface TcpSettings {
  /** Of connections for which no DestinationRule says it; in Go's notation, from the node's metadata. */
  readonly idleTimeout?: string;
  readonly accessLogs: AccessLogs;
  /** Istio's metrics of requests and of connections. */
  readonly statsFilters: readonly StatsFilter[];
  /** Modules that filter connections, in order. */
  readonly connectionExtensions: readonly ExtensionHead[];
  readonly switches: ListenerSwitches;
  /** Families in which wildcard hosts are resolved by the request. */
  readonly dnsLookupFamily: DnsLookupFamily;
}

/** What all those have in common that speak HTTP. */
export interface HttpSettings extends TcpSettings {
  readonly istioExtensions: boolean;
  /** Modules and scripts that filter requests, in order. */
  readonly requestExtensions: readonly ExtensionHead[];
  /** The ProxyConfig that holds for the proxy. */
  readonly proxy: ProxyConfig;
  readonly pathNormalization: ProxyPathNormalization['normalization'];
  readonly networks: MeshNetworks;
  readonly http10: boolean;
  readonly tracing: HttpTracing;
  /** Unknown hosts are resolved by the request, with this cache. */
  readonly anyHostCache?: DnsCacheConfig;
}

/** Those of the extensions that are for this traffic. */
export function extensionsFor(extensions: readonly ExtensionHead[], traffic: ChainTraffic): readonly ExtensionHead[] {
  return extensions.length === 0 ? extensions : extensions.filter((one) => filtersTraffic(one, traffic));
}

export interface OutboundHttpChain {
  readonly statPrefix: string;
  /** Of the service that is called; 0 where that is any. */
  readonly port: number;
  /** The name of a route configuration that is asked for, or one that is inside. */
  readonly route: string | RouteConfiguration;
  readonly grpcWeb?: boolean;
  /** A wildcard host whose names are resolved by the request. */
  readonly dynamicHost?: Hostname;
  /** Requests name the whole URL: the listener is a proxy for any host. */
  readonly absoluteUrls?: boolean;
}

/** The filter that speaks HTTP to the proxy's own workload. */
export function outboundHttp(chain: OutboundHttpChain, settings: HttpSettings): NetworkFilter {
  const { proxy, anyHostCache, dnsLookupFamily } = settings;
  const { dynamicHost, absoluteUrls = false } = chain;
  const meshOnly = proxy.proxyHeaders?.metadataExchangeHeaders?.mode === 'IN_MESH';
  return connectionManager({
    ...settings,
    direction: 'outbound',
    statPrefix: chain.statPrefix,
    route: chain.route,
    httpFilters: httpFilters({
      direction: 'outbound',
      istioExtensions: settings.istioExtensions,
      switches: settings.switches,
      statsFilters: settings.statsFilters,
      extensions: extensionsFor(settings.requestExtensions, { mode: 'CLIENT', port: chain.port }),
      grpcWeb: chain.grpcWeb ?? false,
      meshOnlyPeerMetadata: meshOnly && !absoluteUrls,
      suppressDebugHeaders: proxy.proxyHeaders?.envoyDebugHeaders?.disabled === true,
      dnsCaches: [
        ...(dynamicHost === undefined ? [] : [hostDnsCache(dynamicHost, dnsLookupFamily)]),
        ...(anyHostCache === undefined ? [] : [anyHostCache]),
      ],
    }),
    accessLog: settings.accessLogs.http,
    absoluteUrls,
  });
}

export interface InboundHttpChain {
  readonly statPrefix: string;
  /** Where the workload listens; 0 where that is anywhere. */
  readonly port: number;
  readonly route: RouteConfiguration;
  readonly grpcWeb: boolean;
  /** The port is declared to be HTTP/2. */
  readonly http2: boolean;
  readonly access: AccessPolicies;
}

/** The filter that speaks HTTP to the workload's callers. */
export function inboundHttp(chain: InboundHttpChain, settings: HttpSettings): NetworkFilter {
  const { statPrefix, port, route, grpcWeb, http2, access } = chain;
  return connectionManager({
    ...settings,
    direction: 'inbound',
    statPrefix,
    route,
    http2,
    httpFilters: httpFilters({
      direction: 'inbound',
      istioExtensions: settings.istioExtensions,
      switches: settings.switches,
      statsFilters: settings.statsFilters,
      access,
      extensions: extensionsFor(settings.requestExtensions, { mode: 'SERVER', port }),
      grpcWeb,
      meshOnlyPeerMetadata: false,
      suppressDebugHeaders: settings.proxy.proxyHeaders?.envoyDebugHeaders?.disabled === true,
      dnsCaches: [],
    }),
    accessLog: settings.accessLogs.http,
  });
}

export interface GatewayHttpChain {
  readonly statPrefix: string;
  /** A prefix that the server's name gives, in the place of the other. */
  readonly ownStatPrefix: string;
  /** Where the gateway listens. */
  readonly port: number;
  /** The name of the route configuration. */
  readonly route: string;
  readonly grpcWeb: boolean;
  readonly access: AccessPolicies;
  readonly topology: Topology;
}

/** The filter that speaks HTTP to the clients of a gateway. */
export function gatewayHttp(chain: GatewayHttpChain, settings: HttpSettings): NetworkFilter {
  const { grpcWeb, access, port, ...manager } = chain;
  const { proxyHeaders } = settings.proxy;
  return connectionManager({
    ...settings,
    ...manager,
    direction: 'gateway',
    httpFilters: httpFilters({
      direction: 'gateway',
      istioExtensions: settings.istioExtensions,
      switches: settings.switches,
      statsFilters: settings.statsFilters,
      access,
      extensions: extensionsFor(settings.requestExtensions, { mode: 'CLIENT', port }),
      grpcWeb,
      meshOnlyPeerMetadata: proxyHeaders?.metadataExchangeHeaders?.mode === 'IN_MESH',
      suppressDebugHeaders: proxyHeaders?.envoyDebugHeaders?.disabled === true,
      dnsCaches: [],
    }),
    accessLog: settings.accessLogs.http,
  });
}
