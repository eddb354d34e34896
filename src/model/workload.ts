import type { Pod, WorkloadEntry } from '#generated/config/specs.ts';
import { isIpAddress } from '../base/address.ts';
import type { Labels } from '../base/labels.ts';
import { spiffeId } from '../base/spiffe.ts';
import type { Config } from '../config/config.ts';
import { NETWORK_LABEL } from '../config/network-labels.ts';
import { type Locality, parseLocality } from './endpoint.ts';
import { workloadNameOfEntry, workloadNameOfPod } from './workload-name.ts';

/**
 * A machine or pod that services may select.
 * @see istio/istio pilot/pkg/model/service.go `WorkloadInstance`
 */
export interface Workload {
  readonly kind: 'Pod' | 'WorkloadEntry';
  readonly namespace: string;
  readonly name: string;
  /** IPs, a hostname, or `unix://path`. */
  readonly addresses: readonly string[];
  /** With the topology labels that istiod adds. */
  readonly labels: Labels;
  /** Service port name → port. */
  readonly ports: Readonly<Record<string, number>>;
  readonly network: string;
  readonly locality: string;
  readonly clusterId: string;
  /** 0 means unset. */
  readonly weight: number;
  /** A spiffe URI, or empty. */
  readonly serviceAccount: string;
  readonly tlsMode: string;
  readonly workloadName: string;
  readonly hostName?: string;
  readonly subDomain?: string;
  readonly nodeName?: string;
  /** Its address is no IP, so only a service that is resolved by DNS can use it. */
  readonly dnsOnly: boolean;
  /** False for a pod that does not say that it is ready: ServiceEntries don't select it, and it is not found by its address. */
  readonly ready: boolean;
}

/** What a workload's form depends on besides its own object. */
export interface WorkloadContext {
  readonly trustDomain: string;
  readonly clusterId: string;
  /** `region/zone/subzone` of the node on which a pod runs, or empty. */
  readonly nodeLocality?: string;
  /** The network of a pod, by its labels and address, or empty. */
  readonly networkOf: (address: string, labels: Labels) => string;
}

const TLS_MODE_LABEL = 'security.istio.io/tlsMode';

/** Of labels `topology.istio.io/locality` or `istio-locality`; dots stand for slashes, which a label can't hold. */
export function localityOfLabels(labels: Labels): string {
  const text = labels['topology.istio.io/locality'] ?? labels['istio-locality'] ?? '';
  return text.includes('/') ? text : text.replaceAll('.', '/');
}

interface Topology {
  readonly clusterId: string;
  readonly locality: string;
  readonly node: string;
  readonly network: string;
}

/** The labels of an endpoint: its own, and where it is. @see istio/istio pilot/pkg/serviceregistry/util/label/label.go */
export function withTopologyLabels(labels: Labels, { clusterId, locality, node, network }: Topology): Labels {
  const [region = '', zone = '', subZone = ''] = locality.split('/');
  const out: Record<string, string> = { ...labels };
  if (region !== '') out['topology.kubernetes.io/region'] = region;
  if (zone !== '') out['topology.kubernetes.io/zone'] = zone;
  if (subZone !== '') out['topology.istio.io/subzone'] = subZone;
  if (clusterId !== '') out['topology.istio.io/cluster'] = clusterId;
  if (node !== '') out['kubernetes.io/hostname'] = node;
  if (network !== '' && (out[NETWORK_LABEL] ?? '') === '') out[NETWORK_LABEL] = network;
  return out;
}

/**
 * The workload of a WorkloadEntry, or of an endpoint written in a ServiceEntry (`owner` is then the ServiceEntry's namespace and
 * `name-index`). Labels of the metadata win over those of the spec. It is in the network that it names: MeshNetworks says where
 * pods are, and nothing of these.
 */
export function workloadOfEntry(
  entry: WorkloadEntry,
  owner: { readonly namespace: string; readonly name: string; readonly labels?: Labels; readonly annotations?: Labels },
  context: WorkloadContext,
): Workload {
  const own: Labels = { ...entry.labels, ...owner.labels };
  const address = entry.address ?? '';
  const network = entry.network ?? '';
  const locality = entry.locality || localityOfLabels(own);
  const { trustDomain, clusterId } = context;
  return {
    kind: 'WorkloadEntry',
    namespace: owner.namespace,
    name: owner.name,
    addresses: [address],
    labels: withTopologyLabels(own, { clusterId, locality, node: '', network }),
    ports: entry.ports ?? {},
    network,
    locality,
    clusterId,
    weight: entry.weight ?? 0,
    serviceAccount: entry.serviceAccount ? spiffeId(trustDomain, owner.namespace, entry.serviceAccount) : '',
    tlsMode: own[TLS_MODE_LABEL] ?? (entry.serviceAccount ? 'istio' : 'disabled'),
    workloadName: workloadNameOfEntry(owner),
    dnsOnly: address !== '' && !isIpAddress(address),
    ready: true,
  };
}

/** Whether the health check that the entry is under, if any, last succeeded. */
export function isHealthyEntry({ annotations, status }: Config<WorkloadEntry>): boolean {
  const checked = annotations['proxy.istio.io/health-checks-enabled'] ?? '';
  if (!/^(1|t|T|TRUE|true|True)$/.test(checked)) return true;
  const conditions = status?.['conditions'];
  if (!Array.isArray(conditions)) return false;
  return conditions.some((c) => c?.type === 'Healthy' && String(c?.status).toLowerCase() === 'true');
}

/** The pod as a workload, or undefined when it has ended or has no address yet. */
export function workloadOfPod(pod: Config<Pod>, context: WorkloadContext): Workload | undefined {
  const status = pod.status ?? {};
  const addresses = podAddresses(pod);
  const phase = status['phase'];
  if (addresses.length === 0 || phase === 'Failed' || phase === 'Succeeded') return undefined;
  const place = placeOfPod(pod, context);
  const { locality, network } = place;
  const { serviceAccountName = '', subdomain, hostname, nodeName = '' } = pod.spec;
  return {
    kind: 'Pod',
    namespace: pod.namespace,
    name: pod.name,
    addresses,
    labels: withTopologyLabels(pod.labels, { ...place, node: nodeName }),
    ports: portsOfPod(pod),
    network,
    locality,
    clusterId: context.clusterId,
    weight: 0,
    serviceAccount: spiffeId(context.trustDomain, pod.namespace, serviceAccountName),
    tlsMode: pod.labels[TLS_MODE_LABEL] ?? 'disabled',
    workloadName: workloadNameOfPod(pod),
    ...(subdomain ? { subDomain: subdomain, hostName: hostname || pod.name } : {}),
    ...(nodeName ? { nodeName } : {}),
    dnsOnly: false,
    ready: isReady(status),
  };
}

function placeOfPod(pod: Config<Pod>, { clusterId, nodeLocality = '', networkOf }: WorkloadContext) {
  const locality = localityOfLabels(pod.labels) || nodeLocality;
  return { clusterId, locality, network: networkOf(podAddresses(pod)[0] ?? '', pod.labels) };
}

/**
 * Labels of the proxy in a pod, in whatever state that is. Its node it says itself.
 * @see istio/istio pilot/pkg/serviceregistry/kube/controller/controller.go `GetProxyWorkloadLabels`
 */
export function proxyLabelsOfPod(pod: Config<Pod>, context: WorkloadContext): Labels {
  return withTopologyLabels(pod.labels, { ...placeOfPod(pod, context), node: '' });
}

/** TCP ports of its containers by name; of several of one name the first. */
function portsOfPod({ spec }: Config<Pod>): Readonly<Record<string, number>> {
  const sidecars = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  const ports = [...(spec.containers ?? []), ...sidecars].flatMap((container) => container.ports ?? []);
  const named = ports.filter(({ name, protocol = 'TCP' }) => name && protocol === 'TCP');
  return Object.fromEntries(named.reverse().map(({ name = '', containerPort = 0 }) => [name, containerPort]));
}

/** @see istio/istio pilot/pkg/serviceregistry/kube/controller/pod.go `IsPodReady` */
function isReady({ conditions }: NonNullable<Config['status']>): boolean {
  return Array.isArray(conditions) && conditions.some((c) => c?.type === 'Ready' && c?.status === 'True');
}

/** All IPs of a pod's status, the primary first. */
export function podAddresses({ status }: Config<Pod>): readonly string[] {
  const several = status?.['podIPs'];
  const ips = Array.isArray(several) ? several.flatMap((item) => (typeof item?.ip === 'string' ? [item.ip] : [])) : [];
  const first = status?.['podIP'];
  return typeof first === 'string' && first !== '' && !ips.includes(first) ? [first, ...ips] : ips;
}

/**
 * Where a proxy is: by its workload's topology labels, its locality label, or what it says itself.
 * @see istio/istio pilot/pkg/xds/ads.go `setTopologyLabels`
 */
export function localityOfProxy(labels: Labels, said: Locality | undefined): Locality {
  const region = labels['topology.kubernetes.io/region'];
  const zone = labels['topology.kubernetes.io/zone'];
  const subZone = labels['topology.istio.io/subzone'];
  if (region !== undefined || zone !== undefined || subZone !== undefined) {
    return { region: region ?? '', zone: zone ?? '', subZone: subZone ?? '' };
  }
  const label = localityOfLabels(labels);
  return label === '' ? (said ?? parseLocality('')) : parseLocality(label);
}
