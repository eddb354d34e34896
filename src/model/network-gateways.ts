import type { MeshNetworks, Node, NodeStatus } from '#generated/config/specs.ts';
import { isIpAddress, parseCidr } from '../base/address.ts';
import { cidrContains } from '../base/cidr.ts';
import { type Labels, selects } from '../base/labels.ts';
import { compareStrings } from '../base/order.ts';
import type { Config } from '../config/config.ts';
import { gatewayPort, NETWORK_LABEL } from '../config/network-labels.ts';
import type { Service } from './service.ts';

/** An address through which the endpoints of a network are reached from others. */
export interface NetworkGateway {
  readonly network: string;
  readonly address: string;
  readonly port: number;
  /** The cluster whose Service or Gateway it is; empty where MeshNetworks gives the address. */
  readonly cluster: string;
}

/** The gateways of a mesh of several networks. */
export interface NetworkGateways {
  /** By network, each list in order of addresses, then ports: those of the endpoints' own cluster, where it has any. */
  readonly byNetwork: ReadonlyMap<string, readonly NetworkGateway[]>;
  /** What weights are multiplied by, so that each can be divided among the gateways of any network. */
  readonly scale: number;
}

const lcm = (a: number, b: number): number => (a * b) / gcd(a, b);
const gcd = (a: number, b: number): number => (b === 0 ? a : gcd(b, a % b));

/** Whether gateways may have a name instead of an IP (only clusters that proxies resolve by DNS can use those), and for whom. */
export interface GatewayChoice {
  readonly hostnames: boolean;
  /** The cluster of the endpoints. */
  readonly clusterId: string;
}

/**
 * @param found gateways that are objects of the mesh, found by whoever knows those
 * @returns undefined when no network has a gateway: then every endpoint is taken to be reachable
 * @see istio/istio pilot/pkg/model/network.go `NetworkManager.reload`
 */
export function networkGateways(
  networks: MeshNetworks,
  found: readonly NetworkGateway[],
  { hostnames, clusterId }: GatewayChoice,
): NetworkGateways | undefined {
  const fixed = Object.entries(networks.networks ?? {}).flatMap(([network, { gateways = [] }]) =>
    gateways.flatMap(({ address, port = 0 }): readonly NetworkGateway[] =>
      address ? [{ network, address, port, cluster: '' }] : [],
    ),
  );
  const distinct = new Map<string, NetworkGateway>();
  for (const gateway of [...fixed, ...found]) {
    if (gateway.port === 0 || !(hostnames || isIpAddress(gateway.address))) continue;
    distinct.set(`${gateway.network} ${gateway.cluster} ${gateway.address} ${gateway.port}`, gateway);
  }
  if (distinct.size === 0) return undefined;
  const all = [...distinct.values()].sort(compareGateways);
  const ofNetworks = Map.groupBy(all, ({ network }) => network);
  const ofClusters = Map.groupBy(all, ({ network, cluster }) => `${network} ${cluster}`);
  return {
    byNetwork: new Map([...ofNetworks].map(([id, list]) => [id, ofClusters.get(`${id} ${clusterId}`) ?? list])),
    scale: [...ofNetworks.values(), ...ofClusters.values()].map((list) => list.length).reduce(lcm, 1),
  };
}

/** Hostnames of services that MeshNetworks makes the gateways of networks of a cluster. */
export function gatewayServiceNames(networks: MeshNetworks, clusterId: string): readonly string[] {
  return namedServices(networks, clusterId).map(({ hostname }) => hostname);
}

/** A node that is reached from outside its cluster. */
export interface ReachableNode {
  readonly labels: Labels;
  readonly address: string;
}

/** @see istio/istio pilot/pkg/serviceregistry/kube/controller/controller.go `onNodeEvent` */
export function reachableNode({ labels, status }: Config<Node>): readonly ReachableNode[] {
  const addresses = (status?.['addresses'] ?? []) as NonNullable<NodeStatus['addresses']>;
  const external = addresses.find(({ type, address }) => type === 'ExternalIP' && address);
  return external?.address ? [{ labels, address: external.address }] : [];
}

/** What the gateways of a Service depend on besides itself. */
export interface GatewaySurroundings {
  readonly networks: MeshNetworks;
  readonly clusterId: string;
  /** Asked only for a Service that is reached at nodes. */
  readonly nodes: () => readonly ReachableNode[];
}

/**
 * What a Kubernetes Service is a gateway of: the network of its label, else those of which MeshNetworks names it, at the
 * addresses under which it is reached from outside its cluster.
 *
 * @see istio/istio pilot/pkg/serviceregistry/kube/controller/network.go `getGatewayDetails`
 */
export function gatewaysOfService(
  service: Service,
  { networks, clusterId, nodes }: GatewaySurroundings,
): readonly NetworkGateway[] {
  const { labels, ports, atNodes, externalAddresses = [] } = service;
  const labelled = labels[NETWORK_LABEL];
  const labelPort = gatewayPort(labels);
  const served = ports.some(({ port }) => port === labelPort);
  const gateways = labelled
    ? served
      ? [{ network: labelled, port: labelPort }]
      : []
    : namedServices(networks, clusterId).filter(({ hostname }) => hostname === service.hostname);
  if (gateways.length === 0) return [];
  const ofNodes = () =>
    nodes().flatMap((node) => (selects(atNodes?.selector ?? {}, node.labels) ? [node.address] : []));
  const addresses = atNodes === undefined || externalAddresses.length > 0 ? externalAddresses : ofNodes();
  return addresses.flatMap((address) =>
    gateways.map(({ network, port }) => ({ network, address, port: atNodes?.ports[port] ?? port, cluster: clusterId })),
  );
}

interface NamedService {
  readonly network: string;
  readonly hostname: string;
  readonly port: number;
}

function namedServices({ networks = {} }: MeshNetworks, clusterId: string): readonly NamedService[] {
  return Object.entries(networks).flatMap(([network, { endpoints = [], gateways = [] }]) =>
    endpoints.some(({ fromRegistry }) => fromRegistry === clusterId)
      ? gateways.flatMap(({ registryServiceName: hostname, port = 0 }) =>
          hostname ? [{ network, hostname, port }] : [],
        )
      : [],
  );
}

export function compareGateways(a: NetworkGateway, b: NetworkGateway): number {
  return compareStrings(a.address, b.address) || a.port - b.port;
}

/**
 * The network of an address of the cluster: that of the cluster as a whole, else of the widest block that has it; or empty.
 *
 * @see istio/istio pilot/pkg/serviceregistry/kube/controller/network.go `networkFromMeshNetworks`
 */
export function networkOfAddress({ networks = {} }: MeshNetworks, address: string, clusterId: string): string {
  const members = Object.entries(networks).flatMap(([network, { endpoints = [] }]) =>
    endpoints.map(({ fromRegistry, fromCidr = '' }) => ({ network, fromRegistry, fromCidr })),
  );
  const whole = members.find(({ fromRegistry }) => fromRegistry === clusterId);
  if (whole !== undefined || address === '') return whole?.network ?? '';
  const prefixLength = (block: string) => parseCidr(block)?.prefixLength ?? 0;
  const blocks = members.filter(({ fromCidr }) => fromCidr !== '' && cidrContains(fromCidr, address));
  return blocks.sort((a, b) => prefixLength(a.fromCidr) - prefixLength(b.fromCidr))[0]?.network ?? '';
}
