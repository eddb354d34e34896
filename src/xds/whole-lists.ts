import { sameItems } from '../base/equal.ts';
import type { EncodedResource, ResourceDelta } from '../proto/resource-set.ts';

/** Sharing a shorter list saves less than looking for it costs. */
const LEAST_LENGTH = 64;
/** Lists with the same resource in their middle among which an equal one is looked for: the newest. */
const MOST_COMPARED = 8;

/**
 * One object for all lists of the very same resources. The sets of many scopes are equal, above all where every scope sees the
 * whole mesh: their clients then share the list, its version and its bytes.
 */
export class WholeLists {
  readonly #byMiddle = new WeakMap<EncodedResource, readonly WeakRef<ResourceDelta>[]>();

  /** @param changed sorted by name, not to be changed any more */
  of(changed: readonly EncodedResource[]): ResourceDelta {
    const equal = this.#known(changed).find((list) => sameItems(list.changed, changed));
    if (equal !== undefined) return equal;
    const whole: ResourceDelta = { changed, removed: [] };
    this.add(whole);
    return whole;
  }

  /** Lets lists to come find this one. */
  add(whole: ResourceDelta): void {
    const { changed } = whole;
    const middle = changed[changed.length >>> 1];
    if (changed.length < LEAST_LENGTH || middle === undefined) return;
    const known = this.#known(changed).map((list) => new WeakRef(list));
    this.#byMiddle.set(middle, [new WeakRef(whole), ...known].slice(0, MOST_COMPARED));
  }

  #known(changed: readonly EncodedResource[]): readonly ResourceDelta[] {
    const middle = changed[changed.length >>> 1];
    const known = middle === undefined ? [] : (this.#byMiddle.get(middle) ?? []);
    return known.flatMap((list) => list.deref() ?? []);
  }
}
