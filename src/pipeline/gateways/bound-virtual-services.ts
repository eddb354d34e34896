import { sameItems } from '../../base/equal.ts';
import { type Hostname, hostsOverlap, isWildcardHost } from '../../base/host.ts';
import { append } from '../../base/multimap.ts';
import type { ConfigKey } from '../../config/config.ts';
import type { Graph } from '../../derive/graph.ts';
import { hostOfServer, type MergedServer } from '../../model/merged-gateway-server.ts';
import type { VirtualServiceHead } from '../../model/scope.ts';
import type { Mesh } from '../mesh.ts';

/** VirtualServices that are bound to gateways, as proxies of a namespace see them, in order of precedence. */
export interface BoundVirtualServices {
  /** Those that may have a host in common with a server. */
  forServer(namespace: string, server: Pick<MergedServer, 'gateway' | 'hosts'>): readonly VirtualServiceHead[];
  /** Those with routes for connections. */
  forConnections(namespace: string, gateway: string): readonly ConfigKey[];
}

/** Positions in the order of precedence. */
interface HostIndex {
  readonly heads: readonly VirtualServiceHead[];
  readonly exact: ReadonlyMap<Hostname, readonly number[]>;
  /** With a wildcard among their hosts. */
  readonly wild: readonly number[];
}

/** One of many that comes or goes concerns the servers of its hosts alone. */
export function deriveBoundVirtualServices(
  graph: Graph,
  mesh: Pick<Mesh, 'virtualServicesForGateway'>,
): BoundVirtualServices {
  /** Key `namespace|gateway`. */
  const indexes = graph.derived<string, HostIndex>('boundHosts', (key) => {
    const heads = mesh.virtualServicesForGateway.get(key);
    const exact = new Map<Hostname, number[]>();
    for (const [position, { hosts }] of heads.entries()) for (const host of hosts) append(exact, host, position);
    const wild = [...heads.entries()]
      .filter(([, { hosts }]) => hosts.some(isWildcardHost))
      .map(([position]) => position);
    return { heads, exact, wild };
  });
  /** Key `namespace|gateway|host host…`. */
  const bound = graph.derived<string, readonly VirtualServiceHead[]>(
    'boundVirtualServices',
    (key) => {
      const at = key.lastIndexOf('|');
      const hosts = key.slice(at + 1).split(' ');
      const { heads, exact, wild } = indexes.get(key.slice(0, at));
      if (hosts.some(isWildcardHost)) return heads.filter((head) => hasAny(head, hosts));
      const named = hosts.flatMap((host) => exact.get(host) ?? []);
      const positions = new Set([...named, ...wild.filter((position) => hasAny(heads[position], hosts))]);
      return [...positions].sort((a, b) => a - b).flatMap((position) => heads[position] ?? []);
    },
    { equals: sameItems },
  );
  /** Key `namespace|gateway`. */
  const connections = graph.derived<string, readonly ConfigKey[]>(
    'boundForConnections',
    (key) =>
      mesh.virtualServicesForGateway
        .get(key)
        .filter(({ hasTcp, hasTls }) => hasTcp || hasTls)
        .map((head) => head.key),
    { equals: sameItems },
  );
  return {
    forServer: (namespace, { gateway, hosts }) =>
      bound.get(`${namespace}|${gateway}|${hosts.map(hostOfServer).join(' ')}`),
    forConnections: (namespace, gateway) => connections.get(`${namespace}|${gateway}`),
  };
}

function hasAny(head: VirtualServiceHead | undefined, hosts: readonly Hostname[]): boolean {
  return head?.hosts.some((own) => hosts.some((host) => hostsOverlap(own, host))) === true;
}
