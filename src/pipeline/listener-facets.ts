import type { MeshNetworks, ProxyConfig } from '#generated/config/specs.ts';
import { deepEqual } from '../base/equal.ts';
import type { Derived, Graph } from '../derive/graph.ts';
import { anyDnsCache } from '../envoy/dns-cache.ts';
import { type AccessLogs, meshAccessLogs } from '../envoy/filters/access-log.ts';
import type { HttpSettings, TcpSettings } from '../envoy/listeners/chain-settings.ts';
import type { ListenerSwitches } from '../envoy/listeners/switches.ts';
import type { HttpView, TcpView } from './listener-views.ts';
import { type Mesh, ONE } from './mesh.ts';

/** What MeshConfig says of every filter chain. */
interface TcpFacets {
  readonly accessLogs: AccessLogs;
  readonly detectionTimeout: string;
}

/** What it says of those that speak HTTP. */
interface HttpFacets {
  readonly proxy: Pick<ProxyConfig, 'tracing' | 'proxyHeaders' | 'connectionSettings'>;
  readonly pathNormalization: HttpSettings['pathNormalization'];
  readonly networks: MeshNetworks;
}

/** Settings of filter chains: a view of a proxy, with what MeshConfig says now. */
export interface ListenerFacets {
  /** MeshConfig `protocolDetectionTimeout`. */
  detectionTimeout(): string;
  tcpSettings(view: TcpView): TcpSettings;
  httpSettings(tcp: TcpView, http: HttpView): HttpSettings;
}

export function deriveListenerFacets(graph: Graph, mesh: Mesh, switches: ListenerSwitches): ListenerFacets {
  const tcpFacets: Derived<'', TcpFacets> = graph.derived(
    'tcpFacets',
    () => ({
      accessLogs: meshAccessLogs({
        file: mesh.facet('accessLogFile') ?? '',
        encoding: mesh.facet('accessLogEncoding') ?? 'TEXT',
        format: mesh.facet('accessLogFormat') ?? '',
        service: mesh.facet('enableEnvoyAccessLogService') ?? false,
        listener: !mesh.facet('disableEnvoyListenerLog'),
      }),
      detectionTimeout: mesh.facet('protocolDetectionTimeout') ?? '0s',
    }),
    { equals: deepEqual },
  );
  const httpFacets: Derived<'', HttpFacets> = graph.derived(
    'httpFacets',
    () => {
      const { tracing, proxyHeaders, connectionSettings } = mesh.facet('defaultConfig') ?? {};
      return {
        proxy: {
          ...(tracing ? { tracing } : {}),
          ...(proxyHeaders ? { proxyHeaders } : {}),
          ...(connectionSettings ? { connectionSettings } : {}),
        },
        pathNormalization: mesh.facet('pathNormalization')?.normalization,
        networks: switches.internalNetworks || switches.useRemoteAddress ? mesh.networks.get(ONE) : {},
      };
    },
    { equals: deepEqual },
  );

  const tcpSettings = ({ idleTimeout, dnsLookupFamily }: TcpView): TcpSettings => ({
    ...(idleTimeout === undefined ? {} : { idleTimeout }),
    accessLogs: tcpFacets.get(ONE).accessLogs,
    switches,
    dnsLookupFamily,
  });
  return {
    detectionTimeout: () => tcpFacets.get(ONE).detectionTimeout,
    tcpSettings,
    httpSettings: (tcp, { istioExtensions, http10, proxy, traced, anyHost }) => {
      const facets = httpFacets.get(ONE);
      return {
        ...tcpSettings(tcp),
        istioExtensions,
        http10,
        traced,
        // Limits of connections are the mesh's where the node's own ProxyConfig has none.
        proxy: { connectionSettings: facets.proxy.connectionSettings, ...(proxy ?? facets.proxy) } as ProxyConfig,
        pathNormalization: facets.pathNormalization,
        networks: facets.networks,
        ...(anyHost === undefined ? {} : { anyHostCache: anyDnsCache(tcp.dnsLookupFamily, anyHost.agentDns) }),
      };
    },
  };
}
