import type { IstioIngressListener, Sidecar } from '#generated/config/specs.ts';
import { deepEqual } from '../base/equal.ts';
import type { Hostname } from '../base/host.ts';
import { canonicalJson } from '../base/intern.ts';
import { selects } from '../base/labels.ts';
import { compareStrings } from '../base/order.ts';
import { WeakInterner } from '../base/weak-intern.ts';
import type { Config, ConfigKey } from '../config/config.ts';
import type { Derived, Graph, Input } from '../derive/graph.ts';
import { ipFamiliesOf } from '../model/node.ts';
import type { Proxy } from '../model/proxy.ts';
import { OF_ROUTERS, type ProxyScope, type SidecarScope } from '../model/scope.ts';
import type { Service, ServiceTarget } from '../model/service.ts';
import { sidecarScope as sidecarScopeOf } from '../model/sidecar-scope.ts';
import { tracedAs } from '../model/traced-as.ts';
import { MESH_GATEWAY, virtualServiceDestinations } from '../model/virtual-service.ts';
import { isVisible } from '../model/visibility.ts';
import { localityOfProxy, withTopologyLabels } from '../model/workload.ts';
import { deriveAskedByTracers } from './asked-of-proxies.ts';
import type { Configuration } from './configuration.ts';
import { type DistinctNamespaces, distinctNamespaces, isDistinct } from './distinct-namespaces.ts';
import type { EnvoyFilters } from './envoy-filters.ts';
import { ONE } from './mesh.ts';
import { proxyTargets } from './proxy-targets.ts';
import type { Services } from './services.ts';
import type { VirtualServices } from './virtual-services.ts';
import type { Workloads } from './workloads.ts';

export interface Scopes {
  readonly proxies: Input<string, Proxy>;
  readonly scopeOf: Derived<string, ProxyScope | undefined>;
  readonly sidecarScope: Derived<Pick<ProxyScope, 'namespace' | 'sidecar'>, SidecarScope>;
  readonly targets: Derived<ProxyScope, readonly ServiceTarget[]>;
}

/** Node metadata that translation reads; anything else can't tell two scopes apart. */
const METADATA: readonly string[] = [
  'MESH_ID',
  'PROXY_CONFIG',
  'HTTP10',
  'UNPRIVILEGED_POD',
  'ISTIO_VERSION',
  'DNS_CAPTURE',
  'DNS_AUTO_ALLOCATE',
  'ENABLE_HBONE',
  'TLS_CLIENT_CERT_CHAIN',
  'TLS_CLIENT_KEY',
  'TLS_CLIENT_ROOT_CERT',
  'TLS_SERVER_CERT_CHAIN',
  'TLS_SERVER_KEY',
  'TLS_SERVER_ROOT_CERT',
  'IDLE_TIMEOUT',
  'WORKLOAD_NAME',
  'NODE_NAME',
  'REQUESTED_NETWORK_VIEW',
  'DNS_PROXY_ADDR',
  'HTTP_PROXY_PORT',
  'ENVOY_STATUS_PORT',
  'ENVOY_PROMETHEUS_PORT',
  'ENVOY_SECURE_METRICS_PORT',
  'ENVOY_SECURE_MERGED_METRICS_PORT',
  'INBOUND_LISTENER_EXACT_BALANCE',
  'OUTBOUND_LISTENER_EXACT_BALANCE',
  'credential',
  'file-credential',
  'GENERATOR',
];

export function deriveScopes(
  graph: Graph,
  configuration: Configuration,
  workloads: Workloads,
  services: Services,
  virtualServices: VirtualServices,
  envoyFilters: EnvoyFilters,
): Scopes {
  const proxies = graph.input<string, Proxy>('proxy', { equals: deepEqual });
  const own = proxyTargets(configuration, workloads, services);
  const interned = new WeakInterner<ProxyScope>();

  /** Sidecars of a namespace: with a selector first, then the oldest. */
  const sidecars = graph.derived<string, readonly Config<Sidecar>[]>('sidecars', (namespace) =>
    [...configuration.ofKindIn<Sidecar>('Sidecar', namespace)].sort(compareSidecars),
  );
  const sidecarFor = (namespace: string, labels: Proxy['labels']): ConfigKey | '' => {
    const here = sidecars.get(namespace).find(({ spec }) => selects(spec.workloadSelector?.labels, labels));
    if (here !== undefined) return here.key;
    const root = configuration.rootNamespace();
    return sidecars.get(root).find(({ spec }) => spec.workloadSelector === undefined)?.key ?? '';
  };

  const askedByTracers = deriveAskedByTracers(graph, configuration);
  const scopeOf = graph.derived<string, ProxyScope | undefined>('scopeOf', (id) => {
    const proxy = proxies.get(id);
    if (proxy === undefined) return undefined;
    const workload = own.workloadLabels(proxy) ?? proxy.labels;
    const locality = localityOfProxy(workload, proxy.locality);
    const { region, zone, subZone } = locality;
    const labels = withTopologyLabels(workload, {
      clusterId: proxy.clusterId,
      locality: `${region}/${zone}/${subZone}`,
      node: typeof proxy.metadata['NODE_NAME'] === 'string' ? proxy.metadata['NODE_NAME'] : '',
      network: proxy.network,
    });
    const targets = own.targets({ ...proxy, labels });
    const sidecar = proxy.type === 'sidecar' ? sidecarFor(proxy.namespace, labels) : OF_ROUTERS;
    const ingress = configuration.config<Sidecar>(sidecar)?.spec.ingress ?? [];
    const scope: Omit<ProxyScope, 'key'> = {
      type: proxy.type,
      namespace: proxy.namespace,
      dnsDomain: proxy.dnsDomain,
      labels,
      serviceAccount: proxy.serviceAccount,
      sidecar,
      interceptionMode: proxy.interceptionMode,
      capabilities: proxy.capabilities,
      ipFamilies: ipFamiliesOf(proxy.ips),
      ips: dependsOnIps(proxy, targets, ingress) ? proxy.ips : [],
      network: proxy.network,
      clusterId: proxy.clusterId,
      locality,
      ...tracedAs(proxy, labels, askedByTracers.get(ONE)),
      targets: targets.map(({ service, port, targetPort }) => ({ serviceId: service.id, port: port.port, targetPort })),
      patches: envoyFilters.patchesFor({ ...proxy, labels }),
      metadata: Object.fromEntries(
        METADATA.flatMap((n) => (proxy.metadata[n] === undefined ? [] : [[n, proxy.metadata[n]]])),
      ),
    };
    const key = canonicalJson(scope);
    return interned.intern(key, () => Object.freeze({ key, ...scope }));
  });

  /** Key `namespace|sidecar`; the namespace is empty for those that see what everybody sees. */
  const computed = graph.derived<string, SidecarScope>('sidecarScope', (id) => {
    const at = id.indexOf('|');
    const namespace = id.slice(0, at);
    const sidecarKey = id.slice(at + 1);
    const sidecar = configuration.config<Sidecar>(sidecarKey);
    const policy = configuration.facet('outboundTrafficPolicy');
    return sidecarScopeOf({
      namespace,
      ...(sidecar ? { sidecar } : {}),
      ofRouters: sidecarKey === OF_ROUTERS,
      services: services.visibleServices.get(namespace),
      virtualServices: virtualServices.virtualServicesForGateway.get(`${namespace}|${MESH_GATEWAY}`),
      destinationsOf: (vs) => {
        const spec = vs.hasSourceNamespace ? virtualServices.virtualService.get(vs.key)?.spec : undefined;
        if (spec === undefined) return vs.destinations;
        return [...virtualServiceDestinations(spec, namespace)].map(([host, ports]) => [host, [...ports]] as const);
      },
      inferredService: (host) => inferredService(services, host, namespace),
      meshOutboundPolicy: { mode: policy?.mode ?? 'ALLOW_ANY' },
    });
  });
  const distinct = graph.derived<'', DistinctNamespaces>(
    'distinctNamespaces',
    () => distinctNamespaces(services.serviceExports.get(ONE), virtualServices.virtualServiceExports.get(ONE)),
    { equals: deepEqual },
  );
  /** Key `namespace|sidecar`. What is in the scope is shared; only its namespace's name is its own. */
  const sidecarScopes = graph.derived<string, SidecarScope>('sidecarScopeOf', (id) => {
    const at = id.indexOf('|');
    const namespace = id.slice(0, at);
    const sidecar = id.slice(at + 1);
    const ofRouters = sidecar === OF_ROUTERS;
    if ((sidecar !== '' && !ofRouters) || isDistinct(distinct.get(ONE), namespace)) return computed.get(id);
    return { ...computed.get(ofRouters && distinct.get(ONE).sharedHosts ? `|${sidecar}` : '|'), namespace };
  });
  const targets = graph.derived<ProxyScope, readonly ServiceTarget[]>('targets', (scope) =>
    scope.targets.flatMap(({ serviceId, port, targetPort }) => {
      const service = services.serviceById.get(serviceId);
      const found = service?.ports.find((p) => p.port === port);
      return service && found ? [{ service, port: found, targetPort }] : [];
    }),
  );
  return {
    proxies,
    scopeOf,
    sidecarScope: { name: 'sidecarScope', get: (scope) => sidecarScopes.get(`${scope.namespace}|${scope.sidecar}`) },
    targets,
  };
}

/**
 * Inbound listeners that bind to the proxy's own addresses, and a Sidecar's that are named after these or send to them; and an
 * outbound listener for each endpoint of a headless service, but for the proxy itself.
 */
function dependsOnIps(
  { interceptionMode }: Proxy,
  targets: readonly ServiceTarget[],
  ingress: readonly IstioIngressListener[],
): boolean {
  if (ingress.some(({ bind = '' }) => bind === '')) return true;
  if (ingress.some(({ defaultEndpoint = '' }) => /^(0\.0\.0\.0|\[::\]):/.test(defaultEndpoint))) return true;
  if (targets.some(({ service }) => service.resolution === 'Passthrough')) return true;
  return interceptionMode === 'NONE' && (targets.length > 0 || ingress.length > 0);
}

function compareSidecars(a: Config<Sidecar>, b: Config<Sidecar>): number {
  const selector = Number(b.spec.workloadSelector !== undefined) - Number(a.spec.workloadSelector !== undefined);
  return selector || a.creationTime - b.creationTime || compareStrings(a.name, b.name);
}

/** The namespace's own service, else a visible Kubernetes one, else the oldest visible one. @see sidecar.go `pickBestVisibleNamespace` */
function inferredService(services: Services, host: Hostname, namespace: string): Service | undefined {
  const own = services.service.get(`${namespace}/${host}`);
  if (own !== undefined) return own;
  const visible = services.servicesOfHost.get(host).filter((s) => isVisible(services.visibility.get(s.id), namespace));
  return visible.find((s) => s.registry === 'Kubernetes') ?? visible[0];
}
