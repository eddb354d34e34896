import { isIpAddress } from '../base/address.ts';
import { append } from '../base/multimap.ts';
import type { Endpoint } from './endpoint.ts';
import type { Service } from './service.ts';

/** Where a client is: it knows the pods of headless services that it can reach without a gateway. */
export interface ClientPlace {
  /** Empty: everywhere. */
  readonly network: string;
  readonly clusterId: string;
}

/** A pod by its own name, `web-0.web.default.svc.cluster.local`. */
export interface PodName {
  readonly host: string;
  /** `web-0.web`. */
  readonly shortname: string;
  readonly addresses: readonly string[];
}

/** The names of a service without an address of its own: all pods under its own name, and each by its own. */
export interface HeadlessNames {
  readonly addresses: readonly string[];
  readonly pods: readonly PodName[];
}

/** Names by which pods of this cluster go before those of others. @see istio/istio pkg/dns/server/name_table.go `BuildNameTable` */
export function headlessNames(
  { hostname, publishNotReadyAddresses = false }: Pick<Service, 'hostname' | 'publishNotReadyAddresses'>,
  endpoints: readonly Endpoint[],
  place: ClientPlace,
): HeadlessNames {
  const near = new Map<string, string[]>();
  const far = new Map<string, string[]>();
  const addresses: string[] = [];
  for (const endpoint of pods(endpoints, publishNotReadyAddresses)) {
    if (!isSame(endpoint.network, place.network)) continue;
    addresses.push(...endpoint.addresses);
    const { hostName = '', subDomain = '' } = endpoint;
    if (subDomain === '') continue;
    const cluster = isSame(endpoint.clusterId, place.clusterId) ? near : far;
    for (const address of endpoint.addresses) append(cluster, `${hostName}.${subDomain}`, address);
  }
  const domain = hostname.slice(hostname.indexOf('.') + 1);
  return {
    addresses,
    pods: [...new Map([...far, ...near])].map(([shortname, own]) => ({
      host: `${shortname}.${domain}`,
      shortname,
      addresses: own,
    })),
  };
}

/** One endpoint for each pod, whatever its ports. */
function pods(endpoints: readonly Endpoint[], notReadyToo: boolean): Iterable<Endpoint> {
  const byAddress = new Map<string, Endpoint>();
  for (const endpoint of endpoints) {
    const [first] = endpoint.addresses;
    if (first === undefined || byAddress.has(first) || !endpoint.addresses.every(isIpAddress)) continue;
    if (notReadyToo || endpoint.health === 'Healthy') byAddress.set(first, endpoint);
  }
  return byAddress.values();
}

/** Networks and clusters that are not named are the same as any. */
function isSame(one: string, other: string): boolean {
  return one === '' || other === '' || one === other;
}
