import type { Key } from './api.ts';

/** Strings by their UTF-16 code units, then objects as they come: sorting is stable. */
export function compareKeys(a: Key, b: Key): number {
  if (typeof a === 'string') return typeof b !== 'string' || a < b ? -1 : a > b ? 1 : 0;
  return typeof b === 'string' ? 1 : 0;
}

/**
 * The keys in order and each once: the array itself when it is like that already.
 *
 * @param known arrays found to be so; many lists are the same array
 */
export function orderedKeys<K extends Key>(keys: Iterable<K>, known: WeakSet<readonly K[]>): readonly K[] {
  if (!Array.isArray(keys)) return [...new Set(keys)].sort(compareKeys);
  if (known.has(keys)) return keys;
  const ordered = isOrdered(keys) ? keys : [...new Set<K>(keys)].sort(compareKeys);
  known.add(ordered);
  return ordered;
}

function isOrdered(keys: readonly Key[]): boolean {
  return keys.every((key, i) => i === 0 || compareKeys(keys[i - 1] as Key, key) < 0);
}

/** Items in order, and what each is made from where that is known; both of the same length. */
export interface Listing<I extends Key> {
  readonly items: readonly I[];
  readonly parts: readonly unknown[] | undefined;
}

export function listing<I extends Key>(parts: ReadonlyMap<I, unknown>): Listing<I> {
  const items = [...parts.keys()];
  if (!isOrdered(items)) items.sort(compareKeys);
  return { items, parts: items.map((item) => parts.get(item)) };
}

export function sameListing(a: Listing<Key>, b: Listing<Key>): boolean {
  if (a === b) return true;
  return sameKeys(a.items, b.items) && (a.parts === b.parts || sameList(a.parts ?? [], b.parts ?? []));
}

function sameList(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((value, i) => value === b[i]);
}

/** Where `key` stands in `ordered`; -1 when it does not. */
export function indexOfKey<K extends Key>(ordered: readonly K[], key: K): number {
  if (typeof key !== 'string') return ordered.indexOf(key);
  let low = 0;
  let high = ordered.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compareKeys(ordered[middle] as K, key) < 0) low = middle + 1;
    else high = middle;
  }
  return ordered[low] === key ? low : -1;
}

export function sameKeys(a: readonly Key[], b: readonly Key[]): boolean {
  return a === b || sameList(a, b);
}

/** What left and what joined between two lists that mostly have the same beginning and the same end. */
export function movedKeys<K extends Key>(from: readonly K[], to: readonly K[]): { left: Iterable<K>; joined: K[] } {
  const shorter = Math.min(from.length, to.length);
  let start = 0;
  while (start < shorter && from[start] === to[start]) start++;
  let end = 0;
  while (end < shorter - start && from[from.length - 1 - end] === to[to.length - 1 - end]) end++;
  const left = new Set(from.slice(start, from.length - end));
  const joined = to.slice(start, to.length - end).filter((key) => !left.delete(key));
  return { left, joined };
}

export function describeKey(key: Key): string {
  return typeof key === 'string' ? key : JSON.stringify(key);
}
