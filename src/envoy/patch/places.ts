import type { Patch } from './patch.ts';

/** What a patch says of an item of a list whose order counts. */
export interface Place<T> {
  /** Whether the patch names an item at all; one that does not is about all of them. */
  readonly isNamed: boolean;
  readonly matches: (item: T) => boolean;
}

/**
 * A list of filters with one patch made to it, merges apart. Where a place is named that is not there, nothing is done.
 *
 * @returns undefined when nothing was done
 */
export function placed<T>(items: readonly T[], { operation, value }: Patch, place: Place<T>): readonly T[] | undefined {
  const item = value as T;
  if (operation === 'ADD' || (operation === 'INSERT_AFTER' && !place.isNamed)) return [...items, item];
  if (operation === 'INSERT_FIRST' || (operation === 'INSERT_BEFORE' && !place.isNamed)) return [item, ...items];
  if (!place.isNamed) return undefined;
  if (operation === 'REMOVE') {
    const left = items.filter((one) => !place.matches(one));
    return left.length === items.length ? undefined : left;
  }
  const at = items.findIndex(place.matches);
  if (at < 0) return undefined;
  if (operation === 'REPLACE') return items.toSpliced(at, 1, item);
  if (operation === 'INSERT_BEFORE') return items.toSpliced(at, 0, item);
  return operation === 'INSERT_AFTER' ? items.toSpliced(at + 1, 0, item) : undefined;
}
