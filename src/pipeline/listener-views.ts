import type { ProxyConfig } from '#generated/config/specs.ts';
import { parseDuration } from '../base/duration.ts';
import { Interner } from '../base/intern.ts';
import type { Labels } from '../base/labels.ts';
import type { ConfigKey } from '../config/config.ts';
import type { Derived, Graph } from '../derive/graph.ts';
import { type DnsLookupFamily, dnsLookupFamily } from '../envoy/dns-cache.ts';
import type { TracerClient } from '../envoy/filters/tracers.ts';
import type { TracedWorkload } from '../envoy/filters/tracing.ts';
import { wildcards } from '../envoy/listeners/addresses.ts';
import type { PortLimits } from '../envoy/listeners/bindable.ts';
import type { AddressView } from '../envoy/listeners/service-address.ts';
import type { ListenerSwitches } from '../envoy/listeners/switches.ts';
import { BLACK_HOLE_CLUSTER, clusterName, PASSTHROUGH_CLUSTER } from '../envoy/names.ts';
import type { SecretSockets } from '../envoy/tls-context.ts';
import type { ProxyScope } from '../model/scope.ts';
import type { ExtensionHead } from '../model/traffic-extension.ts';
import type { AddressAllocation } from '../model/vip.ts';
import type { Mesh } from './mesh.ts';
import type { Telemetries, TelemetryResults, TracerView } from './telemetry.ts';

/** What of a proxy counts for listeners that only pass connections on. Interned. */
export interface TcpView {
  /** The cluster of connections that no filter chain takes. */
  readonly unknownTraffic: string;
  /** In Go's notation. */
  readonly idleTimeout?: string;
  readonly exactBalance: boolean;
  /** Those that filter connections; absent: none. */
  readonly extensions?: readonly ConfigKey[];
  readonly dnsLookupFamily: DnsLookupFamily;
  /** Telemetries about logs; absent: only MeshConfig says something of them. */
  readonly logs?: Telemetries;
  /** Telemetries about metrics; absent: none are kept. */
  readonly measures?: Telemetries;
  /** Extensions that loggers may name and the Envoy was built without; absent: none. */
  readonly lacks?: readonly string[];
}

/** What counts where HTTP is spoken. Interned. */
export interface HttpView {
  readonly istioExtensions: boolean;
  readonly http10: boolean;
  /** Those that filter requests; absent: none. */
  readonly extensions?: readonly ConfigKey[];
  /** The parts of the node's own ProxyConfig that listeners read; absent: the mesh's holds. */
  readonly proxy?: Pick<ProxyConfig, 'tracing' | 'proxyHeaders' | 'connectionSettings'>;
  /** Absent where nothing is traced. */
  readonly traced?: TracedWorkload;
  /** Extensions that tracers may name and the Envoy was built without; absent: none. */
  readonly lacks?: readonly string[];
  /** Telemetries about traces, and what counts for tracers; absent: only MeshConfig says something of traces. */
  readonly tracer?: TracerView;
  /** Unknown hosts are resolved by the request, by the agent's DNS where it names one. */
  readonly anyHost?: { readonly agentDns?: string };
}

/** What counts where TLS ends. */
export interface TlsView {
  /** The proxy can have a certificate of its workload. */
  readonly certificate: boolean;
  /** In files that the node's metadata name; empty texts: from its agent. */
  readonly serverFiles: { readonly certificate: string; readonly privateKey: string; readonly roots: string };
  readonly sockets: SecretSockets;
}

export interface ListenerViews {
  readonly tcp: Derived<ProxyScope, TcpView>;
  readonly http: Derived<ProxyScope, HttpView>;
  tls(scope: ProxyScope): TlsView;
  addressView(scope: ProxyScope): AddressView;
  portLimits(scope: ProxyScope): PortLimits;
  /** MeshConfig `proxyListenPort` and `proxyInboundListenPort`. */
  virtualPorts(): { readonly outbound: number; readonly inbound: number };
}

/** A boolean of the node's metadata, which may be written as text. */
export function metadataFlag({ metadata }: Pick<ProxyScope, 'metadata'>, name: string): boolean {
  const value = metadata[name];
  return value === true || (typeof value === 'string' && ['1', 't', 'true'].includes(value.toLowerCase()));
}

export function metadataText({ metadata }: Pick<ProxyScope, 'metadata'>, name: string): string {
  const value = metadata[name];
  return typeof value === 'string' ? value : '';
}

function metadataPort({ metadata }: ProxyScope, name: string): number {
  const value = Number(metadata[name] ?? 0);
  return Number.isInteger(value) ? value : 0;
}

/** Ports of the proxy's own listeners, as its bootstrap names them. */
const OWN_PORTS: readonly string[] = [
  'ENVOY_STATUS_PORT',
  'ENVOY_PROMETHEUS_PORT',
  'ENVOY_SECURE_METRICS_PORT',
  'ENVOY_SECURE_MERGED_METRICS_PORT',
];

const CANONICAL_SERVICE = 'service.istio.io/canonical-name';
const CANONICAL_REVISION = 'service.istio.io/canonical-revision';

function tracedWorkload(scope: ProxyScope): TracedWorkload {
  const label = (labels: Labels, name: string) => labels[name] ?? '';
  return {
    canonicalService: label(scope.labels, CANONICAL_SERVICE),
    canonicalRevision: label(scope.labels, CANONICAL_REVISION),
    meshId: metadataText(scope, 'MESH_ID'),
    namespace: scope.namespace,
    clusterId: scope.clusterId,
  };
}

function lackedBy({ capabilities: { lacks } }: ProxyScope): { readonly lacks?: readonly string[] } {
  return lacks.length === 0 ? {} : { lacks };
}

function tracerClient({ type, tracedAs }: ProxyScope): TracerClient {
  const { istioMinor = 0, service = '', conventional = '' } = tracedAs ?? {};
  return {
    gateway: type === 'router',
    minorVersion: istioMinor,
    service,
    conventionalService: conventional,
  };
}

function ownProxyConfig({ metadata }: ProxyScope): HttpView['proxy'] {
  const said = metadata['PROXY_CONFIG'];
  if (typeof said !== 'object' || said === null) return undefined;
  const { tracing, proxyHeaders, connectionSettings } = said as ProxyConfig;
  return {
    ...(tracing ? { tracing } : {}),
    ...(proxyHeaders ? { proxyHeaders } : {}),
    ...(connectionSettings ? { connectionSettings } : {}),
  };
}

/**
 * By which addresses a proxy knows services. Those that are allocated automatically are for proxies whose agent resolves names.
 * @see istio/istio pilot/pkg/model/service.go `nodeUsesAutoallocatedIPs`
 */
export function addressView(scope: ProxyScope, allocation: AddressAllocation): AddressView {
  const { ipFamilies, clusterId } = scope;
  const asks = allocation !== 'table-only' || metadataFlag(scope, 'DNS_AUTO_ALLOCATE');
  return {
    ipv4: ipFamilies !== 'IPv6',
    ipv6: ipFamilies !== 'IPv4',
    inCluster: clusterId !== '',
    autoAddresses: asks && metadataFlag(scope, 'DNS_CAPTURE'),
  };
}

export function deriveListenerViews(
  graph: Graph,
  mesh: Mesh,
  switches: ListenerSwitches,
  telemetry: Pick<TelemetryResults, 'selected' | 'lacking'>,
): ListenerViews {
  const tcpViews = new Interner<TcpView>();
  const httpViews = new Interner<HttpView>();

  const outboundPolicy = (scope: ProxyScope) => mesh.sidecarScope.get(scope).outboundTrafficPolicy;
  const unknownTraffic = (scope: ProxyScope): string => {
    const { mode, egressProxy } = outboundPolicy(scope);
    if (mode === 'REGISTRY_ONLY') return BLACK_HOLE_CLUSTER;
    if (egressProxy === undefined) return PASSTHROUGH_CLUSTER;
    return clusterName('outbound', egressProxy.port?.number ?? 0, egressProxy.subset ?? '', egressProxy.host ?? '');
  };
  const extensions = (
    scope: ProxyScope,
    filters: ExtensionHead['filters'],
  ): { readonly extensions?: readonly ConfigKey[] } => {
    const all = mesh.trafficExtensions.of(scope);
    const wanted = all?.filter((key) => mesh.trafficExtensions.head.get(key)?.filters === filters) ?? [];
    return wanted.length === 0 ? {} : { extensions: wanted };
  };
  const virtualPorts = () => ({
    outbound: mesh.facet('proxyListenPort') ?? 15001,
    inbound: mesh.facet('proxyInboundListenPort') ?? 15006,
  });

  const tracerView = (telemetries: Telemetries, scope: ProxyScope): TracerView => {
    const lacks = telemetry.lacking(scope);
    return { telemetries, client: tracerClient(scope), ...(lacks.length > 0 ? { lacks } : {}) };
  };

  const tcp = graph.derived<ProxyScope, TcpView>('tcpView', (scope) => {
    const idleTimeout = metadataText(scope, 'IDLE_TIMEOUT');
    const { logs, measures } = telemetry.selected(scope);
    return tcpViews.intern({
      unknownTraffic: unknownTraffic(scope),
      ...(parseDuration(idleTimeout) === undefined ? {} : { idleTimeout }),
      exactBalance: metadataFlag(scope, 'OUTBOUND_LISTENER_EXACT_BALANCE'),
      ...extensions(scope, 'connections'),
      dnsLookupFamily: dnsLookupFamily(scope.ipFamilies, mesh.options.dualStack),
      ...(logs === undefined ? {} : { logs }),
      ...lackedBy(scope),
      ...(measures === undefined || !scope.capabilities.istioStats ? {} : { measures }),
    });
  });
  const http = graph.derived<ProxyScope, HttpView>('httpView', (scope) => {
    const proxy = ownProxyConfig(scope);
    const { traces: telemetries } = telemetry.selected(scope);
    const agentDns = metadataFlag(scope, 'DNS_CAPTURE') ? metadataText(scope, 'DNS_PROXY_ADDR') : undefined;
    const anyHost = scope.type === 'sidecar' && outboundPolicy(scope).mode === 'ALLOW_ANY_DYNAMIC_DNS';
    return httpViews.intern({
      istioExtensions: scope.capabilities.istioExtensions,
      ...lackedBy(scope),
      http10: switches.http10 || metadataText(scope, 'HTTP10') === '1',
      ...extensions(scope, 'requests'),
      ...(proxy === undefined ? {} : { proxy }),
      ...(telemetries === undefined ? {} : { tracer: tracerView(telemetries, scope) }),
      ...(telemetries !== undefined || mesh.facet('enableTracing') ? { traced: tracedWorkload(scope) } : {}),
      ...(anyHost ? { anyHost: agentDns === undefined ? {} : { agentDns } } : {}),
    });
  });
  return {
    tcp,
    http,
    tls: (scope) => ({
      certificate: scope.capabilities.sds,
      serverFiles: {
        certificate: metadataText(scope, 'TLS_SERVER_CERT_CHAIN'),
        privateKey: metadataText(scope, 'TLS_SERVER_KEY'),
        roots: metadataText(scope, 'TLS_SERVER_ROOT_CERT'),
      },
      sockets: {
        credential: metadataText(scope, 'credential') === 'true',
        files: metadataText(scope, 'file-credential') === 'true',
      },
    }),
    virtualPorts,
    addressView: (scope) => addressView(scope, mesh.options.addressAllocation),
    portLimits: (scope) => ({
      unprivileged: metadataFlag(scope, 'UNPRIVILEGED_POD'),
      reserved: [
        ...OWN_PORTS.map((name) => metadataPort(scope, name)).filter((port) => port > 0),
        virtualPorts().outbound,
        virtualPorts().inbound,
      ],
      wildcard: wildcards(scope.ipFamilies)[0],
    }),
  };
}
