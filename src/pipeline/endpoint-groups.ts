import type { ServiceSettings } from '#generated/config/specs.ts';
import { deepEqual } from '../base/equal.ts';
import { isSubsetOfHost } from '../base/host.ts';
import { Interner } from '../base/intern.ts';
import type { Derived, Graph } from '../derive/graph.ts';
import type { EndpointGroup } from '../envoy/endpoints/groups.ts';
import { type EndpointView, endpointGroups, endpointsOf, isAddress } from '../envoy/endpoints/load-assignment.ts';
import { type LocalityNeeds, localityNeeds } from '../envoy/endpoints/locality.ts';
import { modeOfPort, peerPolicy } from '../model/authentication.ts';
import type { Endpoint } from '../model/endpoint.ts';
import { activeLocalityPolicy, type LocalityPolicy, localityPolicy } from '../model/locality-policy.ts';
import { type NetworkGateways, networkGateways } from '../model/network-gateways.ts';
import type { ProxyScope } from '../model/scope.ts';
import type { Service } from '../model/service.ts';
import { policyOfSubset, tlsOfSubset, withMeshDefaults } from '../model/traffic-policy.ts';
import { type Mesh, namespacedHost, ONE } from './mesh.ts';
import type { OutboundEntry } from './outbound-plan.ts';

/** The endpoints of a cluster as proxies of one view see them. */
export interface EndpointGroups {
  /** What of a scope counts for the endpoints of an entry; equal views are one object. */
  viewOf(entry: OutboundEntry, scope: ProxyScope): EndpointView;
  /** Whether every proxy sees the same endpoints. */
  isShared(entry: OutboundEntry): boolean;
  /** The groups; undefined when the service is gone. */
  groups(entry: OutboundEntry, view: EndpointView, mtlsOnly: boolean): readonly EndpointGroup[] | undefined;
}

/** Parts of a scope's view that an entry's endpoints depend on. */
interface Needs {
  readonly node: boolean;
  readonly cluster: boolean;
  readonly gateways: boolean;
  readonly locality: LocalityNeeds | undefined;
}

/** How the localities of an entry's endpoints count, and whether an Envoy can learn that it has to fail over. */
interface Balance {
  readonly policy: LocalityPolicy | undefined;
  readonly outlierDetection: boolean;
}

export function deriveEndpointGroups(graph: Graph, mesh: Mesh): EndpointGroups {
  const views = new Interner<EndpointView>();
  const gatewaysOf = (dns: boolean): NetworkGateways | undefined => gateways.get(dns ? 'names' : 'addresses');
  const gateways = graph.derived<'names' | 'addresses', NetworkGateways | undefined>(
    'networkGateways',
    (which) => networkGateways(mesh.networks.get(ONE), [], which === 'names'),
    { equals: deepEqual },
  );

  const balanceOf = (entry: OutboundEntry, service: Service): Balance => {
    // EDS looks at the rule alone; a cluster with its endpoints inside at all that shapes the cluster.
    const own = policyOfSubset(entry.rule?.rule.spec, entry.subset, entry.port.port);
    const policy = isDns(entry) ? withMeshDefaults(own, mesh.facet('defaultTrafficPolicy')) : own;
    const outlierDetection = policy?.outlierDetection !== undefined;
    const effective = localityPolicy(policy?.loadBalancer, service, {
      localityLbSetting: mesh.facet('localityLbSetting'),
      zoneAwareLbSetting: mesh.facet('zoneAwareLbSetting'),
    });
    return { policy: activeLocalityPolicy(effective, outlierDetection), outlierDetection };
  };

  const needsOf: Derived<OutboundEntry, Needs> = graph.derived(
    'endpointNeeds',
    (entry) => {
      const service = mesh.serviceById.get(entry.serviceId);
      return {
        node: service?.internalTrafficPolicyLocal === true,
        cluster: service !== undefined && isClusterLocal(service.hostname, mesh),
        gateways: gatewaysOf(isDns(entry)) !== undefined,
        locality: service && localityNeeds(balanceOf(entry, service).policy),
      };
    },
    { equals: deepEqual },
  );

  const viewOf = (entry: OutboundEntry, scope: ProxyScope): EndpointView => {
    const { node, cluster, gateways: networks, locality } = needsOf.get(entry);
    const { ipFamilies, metadata, network } = scope;
    const visible = metadata['REQUESTED_NETWORK_VIEW'];
    return views.intern({
      ...(node ? { nodeName: String(metadata['NODE_NAME'] ?? '') } : {}),
      ...(cluster ? { clusterId: scope.clusterId } : {}),
      ...(typeof visible === 'string' && visible !== '' ? { visibleNetworks: visible.split(',') } : {}),
      ...(networks ? { network: { network, ipv4: ipFamilies !== 'IPv6', ipv6: ipFamilies !== 'IPv4' } } : {}),
      ...(locality ? { locality: localityView(locality, scope) } : {}),
    });
  };

  const groups: EndpointGroups['groups'] = (entry, view, mtlsOnly) => {
    const service = mesh.serviceById.get(entry.serviceId);
    if (service === undefined) return undefined;
    const { rule, subset, port } = entry;
    const dns = isDns(entry);
    const labels = rule?.rule.spec.subsets?.find(({ name }) => name === subset)?.labels;
    const known = mesh.endpoints.get(namespacedHost(service.namespace, service.hostname));
    const ofPort = endpointsOf(known, dns ? { number: port.port } : { name: port.name }, labels);
    const { policy, outlierDetection } = balanceOf(entry, service);
    const minHealth = policyOfSubset(rule?.rule.spec, subset, port.port)?.outlierDetection?.minHealthPercent ?? 0;
    return endpointGroups({
      service,
      endpoints: dns ? ofPort : ofPort.filter(isAddress),
      view,
      speaksMtls: mtlsChoice(entry, mesh),
      unhealthy: service.trafficDistribution !== undefined || minHealth <= 0,
      gateways: gatewaysOf(dns),
      dualStack: mesh.options.dualStack,
      mtlsOnly,
      localityPolicy: policy,
      outlierDetection,
    });
  };

  return {
    viewOf,
    isShared: (entry) => {
      const needs = needsOf.get(entry);
      return !needs.node && !needs.cluster && !needs.gateways && needs.locality === undefined;
    },
    groups,
  };
}

export function isDns({ discovery }: OutboundEntry): boolean {
  return discovery === 'STRICT_DNS' || discovery === 'LOGICAL_DNS';
}

function localityView(needs: LocalityNeeds, { locality, labels }: ProxyScope): NonNullable<EndpointView['locality']> {
  const own = Object.fromEntries(needs.labels.map((name) => [name, labels[name] ?? '']));
  return {
    locality: needs.locality ? locality : { region: '', zone: '', subZone: '' },
    ...(needs.labels.length > 0 && Object.keys(labels).length > 0 ? { labels: own } : {}),
  };
}

/**
 * Whether a client is to speak mutual TLS with an endpoint: the rule's word, else what the endpoint accepts.
 * @see istio/istio pilot/pkg/xds/endpoints/mtls_checker.go
 */
function mtlsChoice({ rule, subset, port }: OutboundEntry, mesh: Mesh): (endpoint: Endpoint) => boolean {
  const said = tlsOfSubset(rule?.rule.spec, subset, port.port);
  if (said !== undefined) return () => said.mode === 'ISTIO_MUTUAL';
  const root = mesh.peerAuthentications.get('');
  const isRoot = (namespace: string) => namespace === mesh.rootNamespace();
  return ({ tlsMode, namespace, labels, port: own }) => {
    if (tlsMode !== 'istio') return false;
    const policies = isRoot(namespace) ? [] : mesh.peerAuthentications.get(namespace);
    return modeOfPort(peerPolicy({ root, namespace: policies, labels }), own) !== 'DISABLE';
  };
}

/** @see istio/istio pilot/pkg/model/cluster_local.go */
function isClusterLocal(hostname: string, mesh: Mesh): boolean {
  const { domainSuffix } = mesh.options;
  const settings = mesh.facet('serviceSettings') ?? [];
  const own = settings.flatMap((setting: ServiceSettings) =>
    (setting.hosts ?? []).map((host) => ({ host, local: setting.settings?.clusterLocal === true })),
  );
  const written = own
    .filter(({ host }) => isSubsetOfHost(hostname, host))
    .sort(
      (a, b) => Number(a.host.startsWith('*')) - Number(b.host.startsWith('*')) || b.host.length - a.host.length,
    )[0];
  if (written !== undefined) return written.local;
  return hostname.endsWith(`.kube-system.svc.${domainSuffix}`) || hostname === `kubernetes.default.svc.${domainSuffix}`;
}
