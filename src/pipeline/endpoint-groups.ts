import type { ServiceSettings } from '#generated/config/specs.ts';
import { deepEqual } from '../base/equal.ts';
import { isSubsetOfHost } from '../base/host.ts';
import { Interner } from '../base/intern.ts';
import type { Labels } from '../base/labels.ts';
import type { Derived, Graph } from '../derive/graph.ts';
import type { EndpointGroup } from '../envoy/endpoints/groups.ts';
import { type EndpointView, endpointGroups, endpointsOf, isAddress } from '../envoy/endpoints/load-assignment.ts';
import { localityNeeds } from '../envoy/endpoints/locality.ts';
import type { NetworkView } from '../envoy/endpoints/network-gateways.ts';
import { modeOfPort, peerPolicy } from '../model/authentication.ts';
import type { Endpoint, Locality } from '../model/endpoint.ts';
import { activeLocalityPolicy, type LocalityPolicy, localityPolicy } from '../model/locality-policy.ts';
import type { NetworkGateways } from '../model/network-gateways.ts';
import type { ProxyScope } from '../model/scope.ts';
import type { Service } from '../model/service.ts';
import { policyOfSubset, tlsOfSubset, withMeshDefaults } from '../model/traffic-policy.ts';
import { type Mesh, namespacedHost } from './mesh.ts';
import { deriveNetworkGateways } from './network-gateways.ts';
import type { OutboundEntry } from './outbound-plan.ts';
import type { OutboundPlanSources, PlanSource } from './outbound-plan-source.ts';
import { derivePlaintextNodes } from './plaintext-nodes.ts';

/**
 * What of a proxy its endpoints can depend on, reduced to what some entry of its plan depends on. Interned.
 */
export interface EndpointScope {
  readonly nodeName?: string;
  readonly clusterId?: string;
  readonly visibleNetworks?: readonly string[];
  readonly network?: NetworkView;
  readonly locality?: Locality;
  readonly labels?: Labels;
}

/** The endpoints of clusters as proxies see them. */
export interface EndpointGroups {
  /** Proxies of the same endpoint scope see the same endpoints in all clusters of the plan that are found this way. */
  scopeOf(source: PlanSource, kind: EndpointKind, scope: ProxyScope): EndpointScope;
  /** What of it counts for one entry; equal views are one object. */
  viewOf(entry: OutboundEntry, scope: EndpointScope): EndpointView;
  /** The same for a proxy that has no plan. */
  viewFor(entry: OutboundEntry, scope: ProxyScope): EndpointView;
  /** Whether all endpoints of a port accept mutual TLS; false when there are none. */
  allSpeakMtls(service: Service, port: number): boolean;
  /** Undefined when the service is gone. */
  groups(entry: OutboundEntry, view: EndpointView): readonly EndpointGroup[] | undefined;
}

/** `dns`: they are a part of their cluster. */
export type EndpointKind = 'eds' | 'dns';

/** Parts of an endpoint scope that count. */
interface Needs {
  readonly node: boolean;
  readonly cluster: boolean;
  readonly gateways: boolean;
  readonly locality: boolean;
  /** Names. */
  readonly labels: readonly string[];
}

const NO_NEEDS: Needs = { node: false, cluster: false, gateways: false, locality: false, labels: [] };

function bothNeeds(a: Needs, b: Needs): Needs {
  if (b === NO_NEEDS) return a;
  return {
    node: a.node || b.node,
    cluster: a.cluster || b.cluster,
    gateways: a.gateways || b.gateways,
    locality: a.locality || b.locality,
    labels: [...new Set([...a.labels, ...b.labels])],
  };
}

/** How the localities of an entry's endpoints count, and whether an Envoy can learn that it has to fail over. */
interface Balance {
  readonly policy: LocalityPolicy | undefined;
  readonly outlierDetection: boolean;
}

export function deriveEndpointGroups(graph: Graph, mesh: Mesh, sources: OutboundPlanSources): EndpointGroups {
  const views = new Interner<EndpointView>();
  const scopes = new Interner<EndpointScope>();
  const isPlaintext = derivePlaintextNodes(graph, mesh);
  const gatewaysOf = (dns: boolean): NetworkGateways | undefined => gateways.get(dns ? 'names' : 'addresses');
  const gateways = deriveNetworkGateways(graph, mesh);

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
      if (service === undefined) return NO_NEEDS;
      const needs = {
        node: service.internalTrafficPolicyLocal === true,
        cluster: isClusterLocal(service.hostname, mesh),
        gateways: gatewaysOf(isDns(entry)) !== undefined,
        ...(localityNeeds(balanceOf(entry, service).policy) ?? { locality: false, labels: [] }),
      };
      return deepEqual(needs, NO_NEEDS) ? NO_NEEDS : needs;
    },
    { equals: deepEqual },
  );
  const needsOfPlan = (kind: EndpointKind): Derived<PlanSource, Needs> =>
    graph.derived(
      `${kind}Needs`,
      (source) => {
        let needs = NO_NEEDS;
        for (const entry of sources.entries.get(source).values())
          if (kindOf(entry) === kind) needs = bothNeeds(needs, needsOf.get(entry));
        return needs;
      },
      { equals: deepEqual },
    );
  const needs = { eds: needsOfPlan('eds'), dns: needsOfPlan('dns') };

  const neededOf = (
    { node, cluster, gateways: networks, ...local }: Needs,
    { ipFamilies, metadata, network, locality, labels, clusterId }: ProxyScope,
  ): EndpointScope => {
    const visible = metadata['REQUESTED_NETWORK_VIEW'];
    const named = Object.fromEntries(local.labels.map((name) => [name, labels[name] ?? '']));
    return {
      ...(node ? { nodeName: String(metadata['NODE_NAME'] ?? '') } : {}),
      ...(cluster ? { clusterId } : {}),
      ...(typeof visible === 'string' && visible !== '' ? { visibleNetworks: visible.split(',') } : {}),
      ...(networks ? { network: { network, ipv4: ipFamilies !== 'IPv6', ipv6: ipFamilies !== 'IPv4' } } : {}),
      ...(local.locality ? { locality } : {}),
      ...(local.labels.length > 0 && Object.keys(labels).length > 0 ? { labels: named } : {}),
    };
  };
  const scopeOf: EndpointGroups['scopeOf'] = (source, kind, scope) =>
    scopes.intern(neededOf(needs[kind].get(source), scope));

  const viewOf: EndpointGroups['viewOf'] = (entry, scope) => {
    const needed = needsOf.get(entry);
    if (needed === NO_NEEDS && scope.visibleNetworks === undefined) return NO_VIEW;
    const { node, cluster, gateways: networks, locality, labels } = needed;
    const local = locality || labels.length > 0;
    return views.intern({
      ...(node ? { nodeName: scope.nodeName ?? '' } : {}),
      ...(cluster ? { clusterId: scope.clusterId ?? '' } : {}),
      ...(scope.visibleNetworks ? { visibleNetworks: scope.visibleNetworks } : {}),
      ...(networks && scope.network ? { network: scope.network } : {}),
      ...(local ? { locality: localityView(needed, scope) } : {}),
    });
  };

  const viewFor: EndpointGroups['viewFor'] = (entry, scope) => viewOf(entry, neededOf(needsOf.get(entry), scope));

  const groups: EndpointGroups['groups'] = (entry, view) => {
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
      speaksMtls: mtlsChoice(entry, mesh, isPlaintext),
      unhealthy: service.trafficDistribution !== undefined || minHealth <= 0,
      gateways: gatewaysOf(dns),
      dualStack: mesh.options.dualStack,
      mtlsOnly: entry.passesTls === true,
      localityPolicy: policy,
      outlierDetection,
    });
  };

  const allSpeakMtls: EndpointGroups['allSpeakMtls'] = (service, port) => {
    const known = mesh.endpoints.get(namespacedHost(service.namespace, service.hostname));
    const ofPort = endpointsOf(known, { number: port }, undefined);
    return ofPort.length > 0 && ofPort.every((e) => e.tlsMode !== 'disabled' && !isPlaintext(e));
  };
  return { scopeOf, viewOf, viewFor, allSpeakMtls, groups };
}

export function isDns({ discovery }: OutboundEntry): boolean {
  return discovery === 'STRICT_DNS' || discovery === 'LOGICAL_DNS';
}

function kindOf(entry: OutboundEntry): EndpointKind | undefined {
  if (entry.discovery === 'EDS') return 'eds';
  return isDns(entry) ? 'dns' : undefined;
}

const NO_VIEW: EndpointView = {};
const NOWHERE: Locality = { region: '', zone: '', subZone: '' };

function localityView(
  needs: Needs,
  { locality = NOWHERE, labels }: EndpointScope,
): NonNullable<EndpointView['locality']> {
  return {
    locality: needs.locality ? locality : NOWHERE,
    ...(needs.labels.length > 0 && labels
      ? { labels: Object.fromEntries(needs.labels.map((name) => [name, labels[name] ?? ''])) }
      : {}),
  };
}

/**
 * Whether a client is to speak mutual TLS with an endpoint: the rule's word, else what the endpoint accepts.
 * @see istio/istio pilot/pkg/xds/endpoints/mtls_checker.go
 */
function mtlsChoice(
  { rule, subset, port }: OutboundEntry,
  mesh: Mesh,
  isPlaintext: (endpoint: Endpoint) => boolean,
): (endpoint: Endpoint) => boolean {
  const said = tlsOfSubset(rule?.rule.spec, subset, port.port);
  if (said !== undefined) return (endpoint) => said.mode === 'ISTIO_MUTUAL' && !isPlaintext(endpoint);
  const root = mesh.peerAuthentications.get('');
  const isRoot = (namespace: string) => namespace === mesh.rootNamespace();
  return (endpoint) => {
    const { tlsMode, namespace, labels, port: own } = endpoint;
    if (tlsMode !== 'istio' || isPlaintext(endpoint)) return false;
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
