import { sameItems } from '../base/equal.ts';
import { compareStrings } from '../base/order.ts';
import type { EncodedResource, ResourceDelta, ResourceSet } from '../proto/resource-set.ts';
import { WholeLists } from './whole-lists.ts';

/**
 * What a set held at one revision. A stream that was sent a set keeps the snapshot of that moment, so that it always knows
 * what its client has, also when the set forgot its history or another set took its place. Snapshots are shared by all
 * streams: a stream costs one reference.
 */
export interface Snapshot {
  readonly set: ResourceSet | undefined;
  readonly revision: number;
  /** All resources as a change from nothing. `changed` is sorted by name. */
  readonly whole: ResourceDelta;
}

export const NO_CHANGE: ResourceDelta = { changed: [], removed: [] };

/** Of a type that is not served, and of a client that has nothing yet. */
export const EMPTY_SNAPSHOT: Snapshot = { set: undefined, revision: 0, whole: NO_CHANGE };

/** A resource of a snapshot by its name, in logarithmic time. */
export function resourceIn(snapshot: Snapshot, name: string): EncodedResource | undefined {
  return resourceAmong(snapshot.whole.changed, name);
}

/** A resource of a list that is sorted by name. */
export function resourceAmong(list: readonly EncodedResource[], name: string): EncodedResource | undefined {
  const found = list[indexOf(list, name)];
  return found?.name === name ? found : undefined;
}

/** A new list, sorted by name. */
export function inOrder(list: Iterable<EncodedResource>): readonly EncodedResource[] {
  return sorted([...list]);
}

/** Makes snapshots of sets and compares them; what is made once serves all streams. */
export class Snapshots {
  readonly #latest = new WeakMap<ResourceSet, Snapshot>();
  readonly #lists = new WholeLists();
  /**
   * What became of a list last: sets that were equal mostly change alike. What it became is not held: a client that never goes on
   * from an old list would else hold all lists that came after it.
   */
  readonly #next = new WeakMap<
    ResourceDelta,
    { readonly change: ResourceDelta; readonly whole: WeakRef<ResourceDelta> }
  >();
  readonly #differences = new WeakMap<Snapshot, WeakMap<Snapshot, ResourceDelta>>();

  /** The snapshot of a set as it is now. */
  of(set: ResourceSet | undefined): Snapshot {
    if (set === undefined) return EMPTY_SNAPSHOT;
    const latest = this.#latest.get(set);
    if (latest?.revision === set.revision) return latest;
    const change = latest === undefined ? undefined : set.changesSince(latest.revision);
    const whole =
      latest === undefined || change === undefined
        ? this.#lists.of(sorted([...set.values()]))
        : this.#after(latest.whole, change);
    const snapshot: Snapshot = { set, revision: set.revision, whole };
    this.#latest.set(set, snapshot);
    return snapshot;
  }

  #after(before: ResourceDelta, change: ResourceDelta): ResourceDelta {
    const next = this.#next.get(before);
    const known = next?.whole.deref();
    if (next !== undefined && known !== undefined && sameChange(next.change, change)) return known;
    const whole: ResourceDelta = { changed: applied(before.changed, change), removed: [] };
    this.#lists.add(whole);
    this.#next.set(before, { change, whole: new WeakRef(whole) });
    return whole;
  }

  /**
   * What turns `from` into `to`: no resource whose version is the same in both, no removed name that `from` does not have.
   * The same pair gives the same object.
   */
  difference(from: Snapshot, to: Snapshot): ResourceDelta {
    if (from === to) return NO_CHANGE;
    if (from.whole.changed.length === 0) return to.whole;
    const toThis = this.#differences.get(to) ?? new WeakMap<Snapshot, ResourceDelta>();
    const known = toThis.get(from);
    if (known !== undefined) return known;
    const difference = exact(from, historyOf(from, to)) ?? compared(from.whole.changed, to.whole.changed);
    this.#differences.set(to, toThis.set(from, difference));
    return difference;
  }
}

function sameChange(a: ResourceDelta, b: ResourceDelta): boolean {
  return sameItems(a.changed, b.changed) && sameItems(a.removed, b.removed);
}

function historyOf(from: Snapshot, to: Snapshot): ResourceDelta | undefined {
  return from.set === to.set && to.set?.revision === to.revision ? to.set.changesSince(from.revision) : undefined;
}

/** Without what changed and changed back. */
function exact(from: Snapshot, change: ResourceDelta | undefined): ResourceDelta | undefined {
  if (change === undefined) return undefined;
  const changed = change.changed.filter(({ name, version }) => resourceIn(from, name)?.version !== version);
  const removed = change.removed.filter((name) => resourceIn(from, name) !== undefined);
  return changed.length === change.changed.length && removed.length === change.removed.length
    ? change
    : { changed, removed };
}

function compared(from: readonly EncodedResource[], to: readonly EncodedResource[]): ResourceDelta {
  const changed: EncodedResource[] = [];
  const removed: string[] = [];
  let i = 0;
  for (const resource of to) {
    let old = from[i];
    for (; old !== undefined && compareStrings(old.name, resource.name) < 0; old = from[++i]) removed.push(old.name);
    if (old?.name !== resource.name) changed.push(resource);
    else {
      if (old.version !== resource.version) changed.push(resource);
      i++;
    }
  }
  for (const { name } of from.slice(i)) removed.push(name);
  return { changed, removed };
}

/** More insertions and removals than this are cheaper in one pass. */
const FEW = 32;

function applied(list: readonly EncodedResource[], { changed, removed }: ResourceDelta): readonly EncodedResource[] {
  const next = list.slice();
  const added: EncodedResource[] = [];
  for (const resource of changed) {
    const at = indexOf(next, resource.name);
    if (next[at]?.name === resource.name) next[at] = resource;
    else added.push(resource);
  }
  if (added.length + removed.length > FEW) {
    const gone = new Set(removed);
    return sorted([...next.filter(({ name }) => !gone.has(name)), ...added]);
  }
  for (const name of removed) {
    const at = indexOf(next, name);
    if (next[at]?.name === name) next.splice(at, 1);
  }
  for (const resource of added) next.splice(indexOf(next, resource.name), 0, resource);
  return next;
}

/** Sorted by name, in place; lists that are sorted already cost one pass. */
function sorted(list: EncodedResource[]): readonly EncodedResource[] {
  const ordered = list.every(
    (resource, i) => i === 0 || compareStrings((list[i - 1] as EncodedResource).name, resource.name) < 0,
  );
  return ordered ? list : list.sort((a, b) => compareStrings(a.name, b.name));
}

/** Where `name` stands in a sorted list, or would stand. */
function indexOf(list: readonly EncodedResource[], name: string): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareStrings((list[middle] as EncodedResource).name, name) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
