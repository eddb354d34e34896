import type { envoy } from '#generated/proto/types.ts';
import { deepEqual } from '../base/equal.ts';
import { ObjectNumbers, WeakInterner } from '../base/weak-intern.ts';
import type { Derived, Graph } from '../derive/graph.ts';
import { dynamicDnsCluster } from '../envoy/clusters/dynamic-dns.ts';
import { outboundCluster } from '../envoy/clusters/outbound.ts';
import { serverMtlsMode } from '../envoy/clusters/tls-settings.ts';
import type { ClusterView } from '../envoy/clusters/view.ts';
import type { DnsLookupFamily } from '../envoy/dns-cache.ts';
import type { EndpointView } from '../envoy/endpoints/load-assignment.ts';
import { type MtlsMode, namespaceMtlsMode } from '../model/authentication.ts';
import { localityPolicy } from '../model/locality-policy.ts';
import type { ProxyScope } from '../model/scope.ts';
import type { Service } from '../model/service.ts';
import { portTrafficPolicy, subsetTrafficPolicy, withMeshDefaults } from '../model/traffic-policy.ts';
import type { EncodedResource } from '../proto/resource-set.ts';
import { appliedRule, CLUSTER, type ClusterFacets, clusterFacets } from './cluster-facets.ts';
import { encodedResource, sameVersion } from './encoded-resource.ts';
import { type EndpointScope, isDns } from './endpoint-groups.ts';
import { deriveGrpcClusters } from './grpc/clusters.ts';
import { type Mesh, namespacedHost, ONE } from './mesh.ts';
import type { Outbound } from './outbound.ts';
import type { OutboundEntry } from './outbound-plan.ts';
import type { PlanSource } from './outbound-plan-source.ts';
import { deriveOwnClusters } from './own-clusters.ts';
import type { ScopedResources } from './resource-types.ts';
import { unionCollection } from './union-collection.ts';

/** An outbound cluster: an entry as proxies of one view have it. Interned. */
interface ClusterKey {
  readonly entry: OutboundEntry;
  readonly view: ClusterView;
  /** Where names are looked up. */
  readonly lookupFamily?: DnsLookupFamily;
  /** Where endpoints are a part of the cluster. */
  readonly endpoints?: EndpointView;
}

/** All clusters to services that proxies of a kind have. Interned. */
interface ClustersKey {
  readonly source: PlanSource;
  readonly view: ClusterView;
  readonly lookupFamily: DnsLookupFamily;
  readonly endpoints: EndpointScope;
}

/** Clusters of every scope: to the services that it sees, to its own workload, and the ones that every proxy has. */
export function deriveClusters(graph: Graph, mesh: Mesh, outbound: Outbound): ScopedResources {
  const keys = new WeakInterner<ClusterKey>();
  const sets = new WeakInterner<ClustersKey>();
  const numbers = new ObjectNumbers();
  const facets = graph.derived<'', ClusterFacets>('clusterFacets', () => clusterFacets(mesh), { equals: deepEqual });
  const namespaceModes = graph.derived<string, MtlsMode | undefined>('namespaceMtlsMode', (namespace) =>
    namespaceMtlsMode(
      mesh.peerAuthentications.get(''),
      namespace === mesh.rootNamespace() ? [] : mesh.peerAuthentications.get(namespace),
    ),
  );

  const translated = (key: ClusterKey): envoy.config.cluster.v3.Cluster | undefined => {
    const { entry, view, lookupFamily = 'V4_ONLY' } = key;
    const { rule, subset, port, name, discovery } = entry;
    const service = mesh.serviceById.get(entry.serviceId);
    if (service === undefined) return undefined;
    const own = subset === '' ? undefined : rule?.rule.spec.subsets?.find((other) => other.name === subset);
    const facet = facets.get(ONE);
    const whole = withMeshDefaults(
      portTrafficPolicy(rule?.rule.spec.trafficPolicy, port.port),
      facet.defaultTrafficPolicy,
    );
    const policy = subsetTrafficPolicy(whole, own?.trafficPolicy, port.port);
    const applied = rule && appliedRule(rule);
    const topPolicy = subset === '' ? rule?.rule.spec.trafficPolicy : own?.trafficPolicy;
    const serverMode = serverMtlsMode(service, topPolicy, namespaceModes.get(service.namespace), () =>
      outbound.endpoints.allSpeakMtls(service, port.port),
    );
    if (discovery === 'DYNAMIC_DNS') {
      return dynamicDnsCluster({
        name,
        service,
        port,
        policy,
        rule: applied,
        serverMode,
        lookupFamily,
        mesh: facet,
        view,
      });
    }
    const dns = key.endpoints && {
      groups: outbound.endpoints.groups(entry, key.endpoints) ?? [],
      lookupFamily,
      refreshRate: facet.dnsRefreshRate,
    };
    return outboundCluster({
      name,
      service,
      port,
      subset,
      policy,
      rule: applied,
      discovery,
      ...(dns ? { dns } : {}),
      localityPolicy: localityPolicy(policy?.loadBalancer, service, {
        localityLbSetting: mesh.facet('localityLbSetting'),
        zoneAwareLbSetting: mesh.facet('zoneAwareLbSetting'),
      }),
      serverMode,
      serviceAccounts: needsAccounts(service, policy?.tls !== undefined)
        ? mesh.serviceAccounts.get(namespacedHost(service.namespace, service.hostname))
        : [],
      passesTls: entry.passesTls === true,
      mesh: facet,
      view,
    });
  };
  const clusters: Derived<ClusterKey, EncodedResource | undefined> = graph.derived(
    'cluster',
    (key) => {
      const cluster = translated(key);
      return cluster && encodedResource(CLUSTER, key.entry.name, cluster);
    },
    { equals: sameVersion },
  );

  const keyOf = (entry: OutboundEntry, { view, endpoints, lookupFamily: family }: ClustersKey): ClusterKey => {
    const inside = isDns(entry) ? outbound.endpoints.viewOf(entry, endpoints) : undefined;
    const lookupFamily = inside !== undefined || entry.discovery === 'DYNAMIC_DNS' ? family : undefined;
    const id = `${outbound.entryNumbers.of(entry)}~${numbers.of(view)}~${lookupFamily ?? ''}~${numbers.of(inside)}`;
    return keys.intern(id, () => ({
      entry,
      view,
      ...(lookupFamily ? { lookupFamily } : {}),
      ...(inside ? { endpoints: inside } : {}),
    }));
  };
  const toServices = graph.collectionOfParts<ClustersKey, string, OutboundEntry, EncodedResource>('clusters', {
    parts: ({ source }) => outbound.sources.entries.get(source),
    value: (_name, entry, set) => clusters.get(keyOf(entry, set)),
    equals: sameVersion,
  });
  const setOf = graph.derived<ProxyScope, ClustersKey | undefined>('clustersOf', (proxy) => {
    const set = outbound.scopeOf.get(proxy);
    if (set === undefined) return undefined;
    const { view, lookupFamily } = set;
    const source = outbound.sources.of.get(set);
    const endpoints = outbound.endpoints.scopeOf(source, 'dns', proxy);
    const id = `${numbers.of(source)}~${numbers.of(view)}~${lookupFamily}~${numbers.of(endpoints)}`;
    return sets.intern(id, () => ({ source, view, lookupFamily, endpoints }));
  });
  const grpc = deriveGrpcClusters(graph, mesh, outbound);
  const own = deriveOwnClusters(graph, mesh, outbound, facets);
  return unionCollection(
    'clusters',
    (proxy) => {
      if (proxy.capabilities.grpc) return [grpc.get(proxy)];
      const set = setOf.get(proxy);
      return set === undefined ? [] : mesh.patched.clusters.views(proxy, [toServices.get(set), own.get(proxy)]);
    },
    sameVersion,
  );
}

/** Accounts count only where a server's identity is checked: not for plaintext to what is outside of the mesh. */
function needsAccounts({ meshExternal }: Service, hasTls: boolean): boolean {
  return !meshExternal || hasTls;
}
