import { isIpAddress, isIpv6 } from '../../base/address.ts';
import { compareGateways, type NetworkGateway, type NetworkGateways } from '../../model/network-gateways.ts';
import { withTopologyLabels } from '../../model/workload.ts';
import { socketAddress } from '../address.ts';
import { type EndpointGroup, type GroupedEndpoint, withEndpoints } from './groups.ts';
import { endpointMetadata, MTLS_MODE } from './lb-endpoint.ts';

/** From where endpoints are looked at, in a mesh whose networks have gateways. */
export interface NetworkView {
  /** Empty: not said. */
  readonly network: string;
  readonly ipv4: boolean;
  readonly ipv6: boolean;
}

/**
 * Endpoints of other networks become the gateways of those, with the weights of what is behind them. Without mutual TLS a
 * gateway could not know where to, so an endpoint without it is left out.
 *
 * @see istio/istio pilot/pkg/xds/endpoints/ep_filters.go `EndpointsByNetworkFilter`
 */
export function throughGateways(
  groups: readonly EndpointGroup[],
  gateways: NetworkGateways,
  view: NetworkView,
): readonly EndpointGroup[] {
  return groups.map((group) => {
    const direct: GroupedEndpoint[] = [];
    const weights = new Map<NetworkGateway, number>();
    for (const endpoint of group.endpoints) {
      const { network } = endpoint.origin;
      const known = gateways.byNetwork.get(network) ?? [];
      if (known.length === 0 || isDirect(network, view)) {
        if (hasAddress(endpoint)) direct.push(endpoint);
        continue;
      }
      const reachable = known.filter(({ address }) => reaches(view, address));
      if (reachable.length === 0 || !endpoint.mtls) continue;
      const share = Math.floor(endpoint.weight / reachable.length);
      for (const gateway of reachable) weights.set(gateway, (weights.get(gateway) ?? 0) + share);
    }
    const remote = [...weights]
      .sort(([a], [b]) => compareGateways(a, b))
      .map(([gateway, weight]) => gatewayEndpoint(gateway, weight || 1));
    return withEndpoints(group, [...direct, ...remote]);
  });
}

/** A proxy that does not say where it is reaches another network through its gateways all the same. */
function isDirect(network: string, view: NetworkView): boolean {
  return network === '' || network === view.network;
}

function hasAddress({ message }: GroupedEndpoint): boolean {
  const address = message.endpoint?.address;
  return (address?.socketAddress?.address ?? address?.pipe?.path ?? '') !== '';
}

function reaches({ ipv4, ipv6 }: NetworkView, address: string): boolean {
  if (ipv4 === ipv6) return true;
  if (!isIpAddress(address)) return false;
  return isIpv6(address) && !address.toLowerCase().startsWith('::ffff:') ? ipv6 : ipv4;
}

function gatewayEndpoint({ network, address, port, cluster }: NetworkGateway, weight: number): GroupedEndpoint {
  return {
    message: {
      endpoint: { address: socketAddress(address, port) },
      loadBalancingWeight: weight,
      metadata: { filterMetadata: endpointMetadata(MTLS_MODE, `;;;;${cluster}`) },
    },
    origin: { labels: withTopologyLabels({}, { clusterId: cluster, locality: '', node: '', network }), network },
    weight,
    mtls: true,
  };
}
