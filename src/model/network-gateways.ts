import type { MeshNetworks } from '#generated/config/specs.ts';
import { isIpAddress } from '../base/address.ts';
import { compareStrings } from '../base/order.ts';

/** An address through which the endpoints of a network are reached from others. */
export interface NetworkGateway {
  readonly network: string;
  readonly address: string;
  readonly port: number;
}

/** The gateways of a mesh of several networks. */
export interface NetworkGateways {
  /** By network, each list in order of addresses, then ports. */
  readonly byNetwork: ReadonlyMap<string, readonly NetworkGateway[]>;
  /** What weights are multiplied by, so that each can be divided among the gateways of any network. */
  readonly scale: number;
}

const lcm = (a: number, b: number): number => (a * b) / gcd(a, b);
const gcd = (a: number, b: number): number => (b === 0 ? a : gcd(b, a % b));

/**
 * @param named gateways that are services of the mesh, found by whoever knows services
 * @param hostnames whether gateways may have a name instead of an IP: only clusters that the proxy resolves by DNS can use those
 * @returns undefined when no network has a gateway: then every endpoint is taken to be reachable
 * @see istio/istio pilot/pkg/model/network.go `NetworkManager.reload`
 */
export function networkGateways(
  networks: MeshNetworks,
  named: readonly NetworkGateway[],
  hostnames: boolean,
): NetworkGateways | undefined {
  const fixed = Object.entries(networks.networks ?? {}).flatMap(([network, { gateways = [] }]) =>
    gateways.flatMap(({ address, port = 0 }): readonly NetworkGateway[] =>
      address ? [{ network, address, port }] : [],
    ),
  );
  const byNetwork = new Map<string, NetworkGateway[]>();
  for (const gateway of [...fixed, ...named]) {
    if (gateway.port === 0 || !(hostnames || isIpAddress(gateway.address))) continue;
    const list = byNetwork.get(gateway.network) ?? [];
    if (list.some(({ address, port }) => address === gateway.address && port === gateway.port)) continue;
    byNetwork.set(gateway.network, [...list, gateway].sort(compareGateways));
  }
  if (byNetwork.size === 0) return undefined;
  return { byNetwork, scale: [...byNetwork.values()].map((list) => list.length).reduce(lcm, 1) };
}

export function compareGateways(a: NetworkGateway, b: NetworkGateway): number {
  return compareStrings(a.address, b.address) || a.port - b.port;
}
