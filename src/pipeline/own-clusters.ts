import type { IstioIngressListener, Sidecar } from '#generated/config/specs.ts';
import type { envoy } from '#generated/proto/types.ts';
import { canonicalJson } from '../base/intern.ts';
import { WeakInterner } from '../base/weak-intern.ts';
import type { ConfigKey } from '../config/config.ts';
import type { Derived, Graph } from '../derive/graph.ts';
import {
  blackHoleCluster,
  externalSdsCluster,
  inboundPassthroughCluster,
  passthroughCluster,
} from '../envoy/clusters/builtin.ts';
import { anyDynamicDnsCluster } from '../envoy/clusters/dynamic-dns.ts';
import {
  type InboundEndpoint,
  type InboundService,
  inboundCluster,
  ingressEndpoint,
} from '../envoy/clusters/inbound.ts';
import type { ClusterView } from '../envoy/clusters/view.ts';
import type { DnsLookupFamily } from '../envoy/dns-cache.ts';
import {
  ALLOW_ANY_DYNAMIC_DNS_CLUSTER,
  BLACK_HOLE_CLUSTER,
  INBOUND_PASSTHROUGH_CLUSTER,
  inboundClusterName,
  PASSTHROUGH_CLUSTER,
} from '../envoy/names.ts';
import { EXTERNAL_SDS_CLUSTER } from '../envoy/tls-context.ts';
import { parseProtocol } from '../model/protocol.ts';
import type { IpFamilies, ProxyScope } from '../model/scope.ts';
import type { ServicePort } from '../model/service.ts';
import { portTrafficPolicy, withMeshDefaults } from '../model/traffic-policy.ts';
import type { EncodedResource } from '../proto/resource-set.ts';
import { appliedRule, CLUSTER, type ClusterFacets } from './cluster-facets.ts';
import { encodedResource, sameVersion } from './encoded-resource.ts';
import { type Mesh, ONE } from './mesh.ts';
import type { Outbound } from './outbound.ts';
import type { ScopedResources } from './resource-types.ts';

type Cluster = envoy.config.cluster.v3.Cluster;

/** A cluster to no service of the mesh, by what it depends on. Interned, so that scopes share what is equal. */
type OwnCluster =
  | { readonly kind: 'black-hole' | 'external-sds' }
  | { readonly kind: 'passthrough'; readonly view: ClusterView }
  | { readonly kind: 'inbound-passthrough'; readonly view: ClusterView; readonly families: IpFamilies }
  | {
      readonly kind: 'any-dynamic-dns';
      readonly view: ClusterView;
      readonly lookupFamily: DnsLookupFamily;
      readonly agentDns?: string;
    }
  | InboundKey;

interface InboundKey {
  readonly kind: 'inbound';
  readonly port: number;
  /** Services on the port, the one that counts first. Without an id: one that a Sidecar's listener makes up. */
  readonly services: readonly { readonly serviceId?: string; readonly port: ServicePort }[];
  readonly endpoint?: InboundEndpoint;
  readonly namespace: string;
  readonly sidecar: ConfigKey | '';
  readonly families: IpFamilies;
  readonly preserveHeaderCase: boolean;
}

/** Clusters to a proxy's own workload, and for traffic that no service takes. */
export function deriveOwnClusters(
  graph: Graph,
  mesh: Mesh,
  outbound: Outbound,
  facets: Derived<'', ClusterFacets>,
): ScopedResources {
  const keys = new WeakInterner<OwnCluster>();
  const interned = (key: OwnCluster): OwnCluster => keys.intern(canonicalJson(key), () => key);

  const plan = graph.derived<ProxyScope, ReadonlyMap<string, OwnCluster>>('ownClusterPlan', (scope) => {
    const set = outbound.scopeOf.get(scope);
    const out = new Map<string, OwnCluster>();
    if (set === undefined) return out;
    const { view, lookupFamily } = set;
    const { metadata } = scope;
    out.set(BLACK_HOLE_CLUSTER, interned({ kind: 'black-hole' }));
    if (scope.type === 'sidecar') {
      out.set(PASSTHROUGH_CLUSTER, interned({ kind: 'passthrough', view }));
      out.set(INBOUND_PASSTHROUGH_CLUSTER, interned({ kind: 'inbound-passthrough', view, families: scope.ipFamilies }));
      if (mesh.sidecarScope.get(scope).outboundTrafficPolicy.mode === 'ALLOW_ANY_DYNAMIC_DNS') {
        const captured = String(metadata['DNS_CAPTURE'] ?? '') === 'true';
        const agentDns = captured ? { agentDns: String(metadata['DNS_PROXY_ADDR'] ?? '') } : {};
        out.set(ALLOW_ANY_DYNAMIC_DNS_CLUSTER, interned({ kind: 'any-dynamic-dns', view, lookupFamily, ...agentDns }));
      }
      for (const key of inboundKeys(scope, view, mesh)) {
        const name = inboundClusterName(key.port);
        if (!out.has(name)) out.set(name, interned(key));
      }
    }
    if (view.secretSockets.credential) out.set(EXTERNAL_SDS_CLUSTER, interned({ kind: 'external-sds' }));
    return out;
  });

  const clusters: Derived<OwnCluster, EncodedResource> = graph.derived(
    'ownCluster',
    (key) => {
      const cluster = ownCluster(key, facets.get(ONE), mesh, outbound);
      return encodedResource(CLUSTER, cluster.name ?? '', cluster);
    },
    { equals: sameVersion },
  );
  return graph.collection<ProxyScope, string, EncodedResource>('ownClusters', {
    items: (scope) => plan.get(scope).keys(),
    value: (name, scope) => {
      const key = plan.get(scope).get(name);
      return key && clusters.get(key);
    },
    equals: sameVersion,
  });
}

function ownCluster(key: OwnCluster, facets: ClusterFacets, mesh: Mesh, outbound: Outbound): Cluster {
  const pool = facets.defaultTrafficPolicy?.connectionPool;
  switch (key.kind) {
    case 'black-hole':
      return blackHoleCluster(facets);
    case 'external-sds':
      return externalSdsCluster(facets);
    case 'passthrough':
      return passthroughCluster({ pool, mesh: facets, view: key.view });
    case 'inbound-passthrough':
      return inboundPassthroughCluster({ pool, mesh: facets, view: key.view }, key.families);
    case 'any-dynamic-dns': {
      const { view, lookupFamily, agentDns } = key;
      const tls = mesh.facet('outboundTrafficPolicy')?.tls;
      return anyDynamicDnsCluster({ tls, lookupFamily, agentDns, mesh: facets, view });
    }
    case 'inbound':
      return inboundClusterOf(key, facets, mesh, outbound);
  }
}

function inboundClusterOf(key: InboundKey, facets: ClusterFacets, mesh: Mesh, outbound: Outbound): Cluster {
  const { port, families, preserveHeaderCase, namespace, sidecar } = key;
  const spec = sidecar === '' ? undefined : mesh.config<Sidecar>(sidecar);
  const ingress = spec?.spec.ingress?.find((listener) => listener.port.number === port && listener.connectionPool);
  const services = key.services.flatMap(({ serviceId, port: own }): readonly InboundService[] => {
    if (serviceId === undefined) return [{ service: madeUp(spec?.name ?? '', namespace), port: own }];
    const service = mesh.serviceById.get(serviceId);
    return service ? [{ service, port: own }] : [];
  });
  const [first = { service: madeUp('', namespace), port: { name: '', port, protocol: 'TCP' as const } }, ...others] =
    services;
  const imported = outbound.knownService(key, first.service.hostname);
  const rule = imported && mesh.destinationRule({ namespace, labels: {} }, imported, 'inbound');
  const own = rule?.rule.spec.trafficPolicy;
  return inboundCluster({
    port,
    services: [first, ...others],
    endpoint: key.endpoint,
    policy: withMeshDefaults(portTrafficPolicy(own, first.port.port), facets.defaultTrafficPolicy),
    rule: own && rule ? appliedRule(rule) : undefined,
    sidecarPool: ingress?.connectionPool ?? spec?.spec.inboundConnectionPool,
    mesh: facets,
    preserveHeaderCase,
    families,
    dualStack: mesh.options.dualStack,
  });
}

/** @see istio/istio pilot/pkg/networking/core/cluster.go `findOrCreateService` */
function madeUp(sidecar: string, namespace: string): InboundService['service'] {
  return { hostname: `${sidecar}.${namespace}`, name: sidecar, namespace, registry: 'External', meshExternal: true };
}

/** @see istio/istio pilot/pkg/networking/core/cluster.go `buildInboundClusters` */
function inboundKeys(scope: ProxyScope, view: ClusterView, mesh: Mesh): readonly InboundKey[] {
  const { namespace, sidecar, ipFamilies: families } = scope;
  const shared = {
    kind: 'inbound',
    namespace,
    sidecar,
    families,
    preserveHeaderCase: view.preserveHeaderCase,
  } as const;
  const ingress = mesh.sidecarScope.get(scope).sidecar?.spec.ingress ?? [];
  if (ingress.length > 0) {
    const merged = mesh.options.listeners.mergesServicePorts ? ofServices(scope, shared, mesh) : [];
    const written = ingress.flatMap((listener) => ingressKey(listener, scope, shared, mesh));
    return [...merged.filter(({ port }) => !ingress.some((listener) => listener.port.number === port)), ...written];
  }
  // Without capture a listener would have to be where the workload listens already.
  return scope.interceptionMode === 'NONE' ? [] : ofServices(scope, shared, mesh);
}

type SharedKey = Pick<InboundKey, 'kind' | 'namespace' | 'sidecar' | 'families' | 'preserveHeaderCase'>;

function ofServices(scope: ProxyScope, shared: SharedKey, mesh: Mesh): readonly InboundKey[] {
  const { families } = shared;
  const local = mesh.facet('inboundTrafficPolicy')?.mode === 'LOCALHOST';
  const byPort = Map.groupBy(mesh.targets.get(scope), ({ targetPort }) => targetPort);
  return [...byPort].map(([port, targets]) => ({
    ...shared,
    port,
    services: targets.map(({ service, port: own }) => ({ serviceId: service.id, port: own })),
    ...(local ? { endpoint: { address: families === 'IPv6' ? '::1' : '127.0.0.1', port } } : {}),
  }));
}

function ingressKey(
  listener: IstioIngressListener,
  scope: ProxyScope,
  shared: SharedKey,
  mesh: Mesh,
): readonly InboundKey[] {
  const { number = 0, protocol = '', name = '' } = listener.port;
  const endpoint = ingressEndpoint(listener, scope.ipFamilies, scope.ips);
  if (endpoint === null) return [];
  const port: ServicePort = { name, port: number, protocol: parseProtocol(protocol) };
  const known = mesh.targets.get(scope).find(({ targetPort }) => targetPort === number);
  const services = [{ ...(known ? { serviceId: known.service.id } : {}), port }];
  return [{ ...shared, port: number, services, ...(endpoint ? { endpoint } : {}) }];
}
