import { isIpAddress } from '../base/address.ts';
import type { Graph } from '../derive/graph.ts';
import type { Endpoint } from '../model/endpoint.ts';
import type { Mesh } from './mesh.ts';

const ANY = '*';

/**
 * Connected sidecars that cannot have a certificate, so that they take plaintext whatever is said of their endpoints.
 *
 * @returns whether an endpoint is one of them
 */
export function derivePlaintextNodes(graph: Graph, mesh: Mesh): (endpoint: Endpoint) => boolean {
  const addresses = mesh.proxies.index<string>('plaintextAddress', ({ type, capabilities, ips }) =>
    type === 'sidecar' && !capabilities.sds ? [ANY, ...ips] : [],
  );
  const isAt = (address: string): boolean => isIpAddress(address) && addresses.get(address).length > 0;
  // Where there are none, no endpoint needs to depend on who comes.
  const exist = graph.derived<'', boolean>('plaintextNodes', () => addresses.get(ANY).length > 0);
  return ({ addresses: own }) => exist.get('') && own.some(isAt);
}
