import type { KubeGateway, KubeService, Node } from '#generated/config/specs.ts';
import { deepEqual } from '../base/equal.ts';
import { type Config, kindName } from '../config/config.ts';
import { NETWORK_LABEL } from '../config/network-labels.ts';
import { passesMeshTls } from '../convert/gateway-api/listener-tls.ts';
import type { Derived, Graph } from '../derive/graph.ts';
import {
  gatewayServiceNames,
  gatewaysOfService,
  type NetworkGateway,
  type NetworkGateways,
  networkGateways,
  type ReachableNode,
  reachableNode,
} from '../model/network-gateways.ts';
import { type Mesh, ONE } from './mesh.ts';

/** With gateways that have a name, or those alone that have an IP. */
export type GatewayAddresses = 'names' | 'addresses';

const KINDS: ReadonlySet<string> = new Set(['Service', 'KubernetesGateway']);

/**
 * The gateways between the networks of the mesh: those of MeshNetworks, Kubernetes Services and Gateways of the Gateway API with
 * a network's label.
 */
export function deriveNetworkGateways(
  graph: Graph,
  mesh: Pick<Mesh, 'configs' | 'config' | 'ofKind' | 'networks' | 'servicesOfConfig' | 'servicesOfHost' | 'options'>,
): Derived<GatewayAddresses, NetworkGateways | undefined> {
  const { clusterId } = mesh.options;
  const labelled = mesh.configs.index<string>('networkLabel', (c) =>
    NETWORK_LABEL in c.labels && KINDS.has(kindName(c)) ? [kindName(c)] : [],
  );
  const nodes = graph.derived<typeof ONE, readonly ReachableNode[]>(
    'reachableNodes',
    () => mesh.ofKind<Node>('Node').flatMap(reachableNode),
    { equals: deepEqual },
  );
  const found = graph.derived<typeof ONE, readonly NetworkGateway[]>(
    'foundNetworkGateways',
    () => {
      const networks = mesh.networks.get(ONE);
      const surroundings = { networks, clusterId, nodes: () => nodes.get(ONE) };
      const services = [
        ...labelled
          .get('Service')
          .flatMap((key) => (mesh.config<KubeService>(key) ? mesh.servicesOfConfig.get(key) : [])),
        ...gatewayServiceNames(networks, clusterId).flatMap((hostname) => mesh.servicesOfHost.get(hostname)),
      ].filter(({ registry }) => registry === 'Kubernetes');
      return [
        ...services.flatMap((service) => gatewaysOfService(service, surroundings)),
        ...labelled.get('KubernetesGateway').flatMap((key) => {
          const gateway = mesh.config<KubeGateway>(key);
          return gateway === undefined ? [] : gatewaysOfKubernetesGateway(gateway, clusterId);
        }),
      ];
    },
    { equals: deepEqual },
  );
  return graph.derived<GatewayAddresses, NetworkGateways | undefined>(
    'networkGateways',
    (which) => networkGateways(mesh.networks.get(ONE), found.get(ONE), { hostnames: which === 'names', clusterId }),
    { equals: deepEqual },
  );
}

/** @see istio/istio pilot/pkg/serviceregistry/kube/controller/network.go `handleGatewayResource` */
function gatewaysOfKubernetesGateway(
  { spec, labels }: Config<KubeGateway>,
  cluster: string,
): readonly NetworkGateway[] {
  const network = labels[NETWORK_LABEL] ?? '';
  if (network === '') return [];
  const ports = (spec.listeners ?? []).filter((listener) => passesMeshTls(listener, labels)).map(({ port }) => port);
  return (spec.addresses ?? [])
    .filter(({ type = 'IPAddress' }) => type === 'IPAddress' || type === 'Hostname')
    .flatMap(({ value }) => (value ? ports.map((port) => ({ network, address: value, port, cluster })) : []));
}
