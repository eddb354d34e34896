import type { ServiceEntry } from '#generated/config/specs.ts';
import { type CidrBlock, cidrBlock, cidrContains, compareBlocks, networkText } from '../base/cidr.ts';
import { deepEqual, sameItems } from '../base/equal.ts';
import type { Hostname } from '../base/host.ts';
import { append } from '../base/multimap.ts';
import { compareStrings } from '../base/order.ts';
import type { Config, ConfigKey } from '../config/config.ts';
import type { Graph } from '../derive/graph.ts';
import type { AddressBlock, MeshFacts, ObjectName } from '../model/analysis/facts.ts';
import { objectName } from '../model/analysis/names.ts';
import { addressedPorts, portsWithoutAddress } from '../model/analysis/tcp-services.ts';
import type { Mesh } from './mesh.ts';

export type AddressFacts = Pick<MeshFacts, 'allocatesAddresses' | 'tcpWithoutAddress' | 'overlapping'>;

interface Addresses {
  readonly name: ObjectName;
  readonly hosts: readonly Hostname[];
  readonly addresses: readonly string[];
}

/** A block of a service, with its network alone. */
interface OwnedBlock extends AddressBlock {
  readonly key: ConfigKey;
  readonly hosts: readonly Hostname[];
  readonly network: CidrBlock;
}

const NONE: readonly AddressBlock[] = [];

/** What analyzers ask about the addresses of TCP services. */
export function deriveAddressFacts(graph: Graph, mesh: Mesh): AddressFacts {
  const entry = (config: Config): ServiceEntry | undefined =>
    config.kind === 'ServiceEntry' ? (config.spec as ServiceEntry) : undefined;
  const withoutAddress = mesh.configs.index<string>('tcpWithoutAddress', (config) => {
    const spec = entry(config);
    const allocated = config.status?.['addresses'];
    return spec === undefined || (Array.isArray(allocated) && allocated.length > 0)
      ? []
      : portsWithoutAddress(spec).map(String);
  });
  const byPort = mesh.configs.index<string>('tcpAddress', (config) => {
    const spec = entry(config);
    return spec?.addresses === undefined ? [] : addressedPorts(spec).map(String);
  });
  const addresses = graph.derived<ConfigKey, Addresses | undefined>(
    'serviceAddresses',
    (key) => {
      const config = mesh.config<ServiceEntry>(key);
      return config && { name: objectName(config), hosts: config.spec.hosts, addresses: config.spec.addresses ?? [] };
    },
    { equals: deepEqual },
  );
  const namesWithoutAddress = graph.derived<string, readonly ObjectName[]>(
    'tcpNamesWithoutAddress',
    (port) => withoutAddress.get(port).flatMap((key) => addresses.get(key)?.name ?? []),
    { equals: sameItems },
  );
  /** By port: for each `configKey address` the others. */
  const overlaps = graph.derived<string, ReadonlyMap<string, readonly AddressBlock[]>>('overlappingBlocks', (port) => {
    const blocks = byPort.get(port).flatMap((key) => ownedBlocks(key, addresses.get(key)));
    return overlapping(blocks);
  });
  /** Key `port configKey address`. */
  const overlapsOf = graph.derived<string, readonly AddressBlock[]>(
    'overlappingBlocksOf',
    (id) => {
      const at = id.indexOf(' ');
      return overlaps.get(id.slice(0, at)).get(id.slice(at + 1)) ?? NONE;
    },
    { equals: deepEqual },
  );
  return {
    allocatesAddresses: () => {
      const metadata = mesh.facet('defaultConfig')?.proxyMetadata ?? {};
      const says = (name: string) => metadata[name] === 'true';
      return (
        says('ISTIO_META_DNS_CAPTURE') && (says('ISTIO_META_DNS_AUTO_ALLOCATE') || says('PILOT_ENABLE_IP_AUTOALLOCATE'))
      );
    },
    tcpWithoutAddress: (port) => namesWithoutAddress.get(String(port)),
    overlapping: (key, address, port) => overlapsOf.get(`${port} ${key} ${address}`),
  };
}

function ownedBlocks(key: ConfigKey, service: Addresses | undefined): readonly OwnedBlock[] {
  const { name = '', hosts = [], addresses = [] } = service ?? {};
  return addresses.flatMap((address) => {
    const block = cidrBlock(address);
    const network = block && cidrBlock(networkText(block));
    return network === undefined ? [] : [{ key, name, hosts, address, network }];
  });
}

/** Two blocks are either apart, or one lies in the other: in order, those that a block lies in are still open. */
function overlapping(blocks: readonly OwnedBlock[]): ReadonlyMap<string, readonly AddressBlock[]> {
  const out = new Map<string, AddressBlock[]>();
  let open: OwnedBlock[] = [];
  for (const block of [...blocks].sort((a, b) => compareBlocks(a.network, b.network))) {
    open = open.filter(({ network }) => cidrContains(networkText(network), block.network.address));
    for (const wider of open) {
      if (wider.key === block.key || wider.hosts.some((host) => block.hosts.includes(host))) continue;
      append(out, `${block.key} ${block.address}`, { name: wider.name, address: wider.address });
      append(out, `${wider.key} ${wider.address}`, { name: block.name, address: block.address });
    }
    open.push(block);
  }
  for (const list of out.values()) list.sort((a, b) => compareStrings(a.name, b.name));
  return out;
}
