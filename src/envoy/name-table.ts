import type { istio } from '#generated/proto/types.ts';
import { isIpAddress } from '../base/address.ts';
import { compareStrings } from '../base/order.ts';
import type { HeadlessNames } from '../model/name-table.ts';
import { type Service, UNSPECIFIED_ADDRESS } from '../model/service.ts';
import type { AddressView } from './listeners/service-address.ts';
import { calledAddresses } from './routes/addresses.ts';

type NameTable = istio.networking.nds.v1.NameTable;
type NameInfo = istio.networking.nds.v1.NameTable.NameInfo;

/**
 * What an agent answers names with: each service's addresses, as far as they are single ones, and the pods of headless
 * services. Of a name that several services have, a Kubernetes Service's addresses count alone; those of ServiceEntries together.
 *
 * @param services that the proxy sees, in order of precedence; one may stand several times, and then its addresses do, too
 * @param headless asked for services without an address that send to the caller's own destination
 * @returns `istio.networking.nds.v1.NameTable`, sorted by name
 * @see istio/istio pkg/dns/server/name_table.go `BuildNameTable`
 */
export function nameTable(
  services: Iterable<Service>,
  view: AddressView,
  headless: (service: Service) => HeadlessNames,
): NameTable {
  const table = new Map<string, NameInfo>();
  for (const service of services) {
    const ips = calledAddresses(service, view, false).filter(isIpAddress);
    if (ips.length > 0) {
      addName(table, service, ips);
    } else if (isHeadless(service)) {
      const { addresses, pods } = headless(service);
      for (const { host, shortname, addresses: own } of pods) {
        table.set(host, { ips: own, registry: service.registry, shortname, namespace: service.namespace });
      }
      if (addresses.length > 0) addName(table, service, addresses);
    }
  }
  return { table: Object.fromEntries([...table].sort(([a], [b]) => compareStrings(a, b))) };
}

function isHeadless({ address, resolution, ports }: Service): boolean {
  return address === UNSPECIFIED_ADDRESS && resolution === 'Passthrough' && ports.length > 0;
}

function addName(table: Map<string, NameInfo>, service: Service, ips: readonly string[]): void {
  const { hostname, registry, namespace, name } = service;
  const known = table.get(hostname);
  if (known?.registry === 'Kubernetes') return;
  if (registry === 'Kubernetes') {
    // The agent finds `name` and `name.namespace` by these two.
    table.set(hostname, { ips, registry, shortname: name, namespace });
  } else {
    table.set(hostname, { ips: [...(known?.ips ?? []), ...ips], registry });
  }
}
