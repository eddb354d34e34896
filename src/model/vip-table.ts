import { compareStrings } from '../base/order.ts';
import type { StoredVip } from '../config/vip-storage.ts';
import { VIP_CAPACITY, type VipNumber, vipCandidates, vipNumber, vipV4 } from './vip-address.ts';

/** Which host has which address. Hosts are `namespace/hostname`. */
export interface VipTable {
  readonly numbers: ReadonlyMap<string, VipNumber>;
  /** Hosts that nobody has any more and that keep their address, those that went first first. */
  readonly reserved: readonly string[];
}

export const NO_VIPS: VipTable = { numbers: new Map(), reserved: [] };

/** So many addresses are kept for hosts that are gone. */
export const MOST_RESERVED: number = 16384;

/**
 * The table with an address for each host that wants one. Who has an address keeps it; a host that is gone keeps its own for its
 * return, unless too many are gone, or all others are taken: then the one that went first loses it.
 *
 * @param wanted sorted; hosts beyond the number of addresses have none
 * @param taken addresses that the configuration itself uses: nobody is newly given one
 * @returns `table` itself when nothing changes: with the result in its place, the result is the same
 */
export function allocatedVips(
  table: VipTable,
  wanted: readonly string[],
  taken: ReadonlySet<VipNumber>,
  mostReserved: number = MOST_RESERVED,
): VipTable {
  const present = new Set(wanted);
  const fresh = wanted.filter((host) => !table.numbers.has(host));
  const known = new Set(table.reserved);
  const gone = [...table.numbers.keys()].filter((host) => !present.has(host) && !known.has(host)).sort(compareStrings);
  const reserved = [...table.reserved.filter((host) => !present.has(host)), ...gone];
  const drop = Math.max(
    reserved.length - mostReserved,
    Math.min(reserved.length, table.numbers.size + fresh.length - VIP_CAPACITY),
    0,
  );
  const numbers = new Map(table.numbers);
  for (const host of reserved.slice(0, drop)) numbers.delete(host);
  const given = newNumbers(fresh, new Set([...numbers.values(), ...taken]));
  if (given.length === 0 && gone.length === 0 && reserved.length - drop === table.reserved.length) return table;
  for (const [host, number] of given) numbers.set(host, number);
  return { numbers, reserved: reserved.slice(drop) };
}

function newNumbers(hosts: readonly string[], used: Set<VipNumber>): readonly (readonly [string, VipNumber])[] {
  const given: [string, VipNumber][] = [];
  for (const host of hosts) {
    const number = used.size < VIP_CAPACITY ? firstFree(host, used) : undefined;
    if (number === undefined) break;
    used.add(number);
    given.push([host, number]);
  }
  return given;
}

function firstFree(host: string, used: ReadonlySet<VipNumber>): VipNumber | undefined {
  for (const number of vipCandidates(host)) if (!used.has(number)) return number;
  return undefined;
}

/** The table as it was kept. What is no address, or stands twice, is passed over. */
export function restoredVips(stored: readonly StoredVip[]): VipTable {
  const numbers = new Map<string, VipNumber>();
  const used = new Set<VipNumber>();
  const reserved: string[] = [];
  for (const vip of stored) {
    const number = vipNumber(vip.address);
    if (number === undefined || used.has(number) || numbers.has(vip.host)) continue;
    used.add(number);
    numbers.set(vip.host, number);
    if (vip.reserved) reserved.push(vip.host);
  }
  return { numbers, reserved };
}

/** What is kept: hosts in use by name, then those that are gone. */
export function storedVips({ numbers, reserved }: VipTable): readonly StoredVip[] {
  const gone = new Set(reserved);
  const inUse = [...numbers.keys()].filter((host) => !gone.has(host)).sort(compareStrings);
  return [...inUse, ...reserved].map((host) => ({
    host,
    address: vipV4(numbers.get(host) ?? 0),
    reserved: gone.has(host),
  }));
}
