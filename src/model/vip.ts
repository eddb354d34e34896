import type { ServiceEntry } from '#generated/config/specs.ts';
import { isIpAddress, isIpv6 } from '../base/address.ts';
import { type Hostname, isWildcardHost } from '../base/host.ts';
import { isJsonObject } from '../base/json.ts';
import type { Config } from '../config/config.ts';
import type { AutoAddress } from './service.ts';
import { type VipNumber, vipNumber } from './vip-address.ts';

/**
 * Where the addresses of ServiceEntries without any come from.
 *
 * - `status-first`: from the object's status, where a cluster's allocator wrote one; else from the table of this control plane.
 * - `status-only`: this control plane gives none, as an istiod whose cluster's allocator does not run.
 * - `table-only`: as istiod without that allocator: the status does not count, and proxies must ask with DNS_AUTO_ALLOCATE.
 */
export type AddressAllocation = 'status-first' | 'status-only' | 'table-only';

const OPT_OUT = 'networking.istio.io/enable-autoallocate-ip';

/** Whether the object's hosts may be given addresses. @see istio/istio ip_autoallocation.go `ShouldV2AutoAllocateIP` */
export function mayHaveAddresses({ spec, labels }: Config<ServiceEntry>): boolean {
  return !hasAddresses(spec) && hasKnownTarget(spec) && labels[OPT_OUT]?.toLowerCase() !== 'false';
}

function hasAddresses({ addresses = [] }: ServiceEntry): boolean {
  return addresses.length > 0;
}

/** Without resolution, the address that a client calls is the one that it meant. */
function hasKnownTarget({ resolution = 'NONE' }: ServiceEntry): boolean {
  return resolution !== 'NONE';
}

/** Addresses that a cluster's allocator gave hosts; of each family the last. */
export function statusAddresses(config: Config<ServiceEntry>): ReadonlyMap<Hostname, AutoAddress> {
  const found = new Map<Hostname, AutoAddress>();
  if (!mayHaveAddresses(config)) return found;
  for (const { host, value } of writtenAddresses(config)) {
    const before = found.get(host) ?? { v4: '', v6: '' };
    found.set(host, isIpv6(value) ? { ...before, v6: value } : { ...before, v4: value });
  }
  return found;
}

function writtenAddresses({
  status,
}: Config<ServiceEntry>): readonly { readonly host: string; readonly value: string }[] {
  const list = status?.['addresses'];
  if (!Array.isArray(list)) return [];
  return list.flatMap((item: unknown) => {
    if (!isJsonObject(item as null)) return [];
    const { host = '', value } = item as { readonly host?: unknown; readonly value?: unknown };
    return typeof host === 'string' && typeof value === 'string' && isIpAddress(value) ? [{ host, value }] : [];
  });
}

/**
 * The hosts that need an address of this control plane's table.
 *
 * @see istio/istio pilot/pkg/controllers/ipallocate/ipallocate.go `keepHost`, and auto_allocation.go for `table-only`
 */
export function hostsToAllocate(config: Config<ServiceEntry>, allocation: AddressAllocation): readonly Hostname[] {
  const { spec } = config;
  const { hosts, resolution } = spec;
  if (allocation === 'status-only' || hasAddresses(spec) || !hasKnownTarget(spec)) return [];
  if (allocation === 'table-only') return hosts.filter((host) => !isWildcardHost(host));
  if (!mayHaveAddresses(config)) return [];
  const given = statusAddresses(config);
  return hosts.filter((host) => !given.has(host) && (resolution === 'DYNAMIC_DNS' || !isWildcardHost(host)));
}

/** Addresses of the range for automatic ones that an object uses by its own word. */
export function ownVipNumbers(config: Config<ServiceEntry>): readonly VipNumber[] {
  const given = writtenAddresses(config).map(({ value }) => value);
  return [...(config.spec.addresses ?? []), ...given].flatMap(
    (address) => vipNumber(address.split('/')[0] ?? '') ?? [],
  );
}
