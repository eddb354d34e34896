import { fnv1a32 } from '../base/fnv.ts';

/**
 * A place for an automatically allocated address, 1 to `LAST_VIP`: `240.240.(n / 255).(n % 255)`. Multiples of 255 are none, so
 * that no address ends with 0 or 255.
 */
export type VipNumber = number;

const PLACES = 256 * 254;
const LAST_VIP: VipNumber = PLACES;
/** A prime below the number of places, for the step of the second hash. */
const STEP_PRIME = 65011;

/** How many addresses there are. */
export const VIP_CAPACITY: number = LAST_VIP - Math.floor(LAST_VIP / 255);

/**
 * Where the address of `key` may be, best first, all places at least once: where its hash says, then in steps of a second hash,
 * then one after the other. Every control plane begins with the same place, whatever else it serves.
 *
 * @param key `namespace/hostname`
 * @see istio/istio pilot/pkg/serviceregistry/serviceentry/auto_allocation.go `autoAllocateIPs`
 */
export function* vipCandidates(key: string): Generator<VipNumber> {
  const hash = fnv1a32(key);
  yield numberOf(hash % PLACES);
  const step = STEP_PRIME - (hash % STEP_PRIME);
  for (let i = 1; i < PLACES; i++) yield numberOf(((hash + Math.imul(i, step)) >>> 0) % (PLACES - 1));
  for (let place = 0; place < PLACES; place++) yield numberOf(place);
}

function numberOf(place: number): VipNumber {
  const number = place + 1;
  return number % 255 === 0 ? number + 1 : number;
}

export function vipV4(number: VipNumber): string {
  return `240.240.${Math.floor(number / 255)}.${number % 255}`;
}

/** Both octets in the last group. istiod leaves out a zero between them, by which two hosts can have one address. */
export function vipV6(number: VipNumber): string {
  const group = Math.floor(number / 255) * 256 + (number % 255);
  return `2001:2::f0f0:${group.toString(16)}`;
}

/** Undefined for an address that is not allocated automatically. */
export function vipNumber(address: string): VipNumber | undefined {
  const v4 = /^240\.240\.(\d{1,3})\.(\d{1,3})$/.exec(address);
  const v6 = /^2001:2::f0f0:([0-9a-f]{1,4})$/i.exec(address);
  const group = v6 === null ? 0 : Number.parseInt(v6[1] ?? '', 16);
  const [third, fourth] = v4 === null ? [group >> 8, group & 0xff] : [Number(v4[1]), Number(v4[2])];
  if (fourth === 0 || fourth > 254) return undefined;
  const number = third * 255 + fourth;
  return number <= LAST_VIP ? number : undefined;
}
