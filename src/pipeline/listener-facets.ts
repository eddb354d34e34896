import type { MeshNetworks, ProxyConfig } from '#generated/config/specs.ts';
import { deepEqual } from '../base/equal.ts';
import { ObjectNumbers, WeakInterner } from '../base/weak-intern.ts';
import type { ConfigKey } from '../config/config.ts';
import type { Derived, Graph } from '../derive/graph.ts';
import { anyDnsCache } from '../envoy/dns-cache.ts';
import { logsWithout } from '../envoy/filters/access-log.ts';
import { namesExtension } from '../envoy/filters/extension-names.ts';
import { type HttpTracing, proxyTracing, UNTRACED } from '../envoy/filters/tracing.ts';
import type { HttpSettings, TcpSettings } from '../envoy/listeners/chain-settings.ts';
import type { Direction } from '../envoy/listeners/proxy-headers.ts';
import type { ListenerSwitches } from '../envoy/listeners/switches.ts';
import type { ExtensionHead } from '../model/traffic-extension.ts';
import type { HttpView, TcpView } from './listener-views.ts';
import { type Mesh, ONE } from './mesh.ts';
import type { TelemetryResults } from './telemetry.ts';

const NO_EXTENSIONS: readonly ExtensionHead[] = [];

/** What MeshConfig says of filter chains that speak HTTP. */
interface HttpFacets {
  readonly proxy: Pick<ProxyConfig, 'tracing' | 'proxyHeaders' | 'connectionSettings'>;
  readonly pathNormalization: HttpSettings['pathNormalization'];
  readonly networks: MeshNetworks;
}

/** One way of traffic of proxies that have one view. Interned. */
interface TracedKey {
  readonly http: HttpView;
  readonly direction: Direction;
}

/** Settings of filter chains: a view of a proxy, with what MeshConfig says now. */
export interface ListenerFacets {
  /** MeshConfig `protocolDetectionTimeout`. */
  detectionTimeout(): string;
  tcpSettings(view: TcpView, direction: Direction): TcpSettings;
  httpSettings(tcp: TcpView, http: HttpView, direction: Direction): HttpSettings;
}

export function deriveListenerFacets(
  graph: Graph,
  mesh: Mesh,
  switches: ListenerSwitches,
  telemetry: TelemetryResults,
): ListenerFacets {
  const tracedKeys = new WeakInterner<TracedKey>();
  const numbers = new ObjectNumbers();
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

  const tracings: Derived<TracedKey, HttpTracing> = graph.derived(
    'httpTracing',
    ({ http: { traced: workload, tracer, proxy, lacks = [] }, direction }) => {
      if (workload === undefined) return UNTRACED;
      const { tracing } = proxy ?? httpFacets.get(ONE).proxy;
      const common = { proxy: tracing, defaultSampling: switches.traceSampling, workload };
      if (tracer === undefined) return { ...UNTRACED, tracing: proxyTracing(common) };
      const traced = telemetry.tracing({ ...common, ...tracer, direction });
      return namesExtension(traced.tracing?.provider, lacks) ? UNTRACED : traced;
    },
    { equals: deepEqual },
  );
  const tracingOf = (http: HttpView, direction: Direction): HttpTracing =>
    tracings.get(tracedKeys.intern(`${numbers.of(http)}~${direction}`, () => ({ http, direction })));

  const heads = (keys: readonly ConfigKey[] | undefined): readonly ExtensionHead[] =>
    keys === undefined ? NO_EXTENSIONS : keys.flatMap((key) => mesh.trafficExtensions.head.get(key) ?? []);
  const tcpSettings = (view: TcpView, direction: Direction): TcpSettings => ({
    ...(view.idleTimeout === undefined ? {} : { idleTimeout: view.idleTimeout }),
    accessLogs: logsWithout(view.lacks ?? [], telemetry.accessLogs(view.logs, direction)),
    statsFilters: telemetry.statsFilters(view.measures, direction),
    connectionExtensions: heads(view.extensions),
    switches,
    dnsLookupFamily: view.dnsLookupFamily,
  });
  return {
    detectionTimeout: () => mesh.facet('protocolDetectionTimeout') ?? '0s',
    tcpSettings,
    httpSettings: (tcp, http, direction) => {
      const facets = httpFacets.get(ONE);
      const { istioExtensions, http10, extensions, proxy, anyHost } = http;
      return {
        ...tcpSettings(tcp, direction),
        istioExtensions,
        requestExtensions: heads(extensions),
        http10,
        tracing: tracingOf(http, direction),
        // Limits of connections are the mesh's where the node's own ProxyConfig has none.
        proxy: { connectionSettings: facets.proxy.connectionSettings, ...(proxy ?? facets.proxy) } as ProxyConfig,
        pathNormalization: facets.pathNormalization,
        networks: facets.networks,
        ...(anyHost === undefined ? {} : { anyHostCache: anyDnsCache(tcp.dnsLookupFamily, anyHost.agentDns) }),
      };
    },
  };
}
