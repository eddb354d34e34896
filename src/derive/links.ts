/** A set of cells, slim while it is small: nothing, a cell, an array of at most `SMALL`, a Set. */
export type Links<T extends object> = undefined | T | readonly T[] | Set<T>;

const SMALL = 8;

export function withLink<T extends object>(links: Links<T>, cell: T): Links<T> {
  if (links === undefined || links === cell) return cell;
  if (links instanceof Set) return links.add(cell);
  if (!isArray(links)) return [links, cell];
  if (links.includes(cell)) return links;
  return links.length < SMALL ? [...links, cell] : new Set(links).add(cell);
}

export function withoutLink<T extends object>(links: Links<T>, cell: T): Links<T> {
  if (links === undefined || links === cell) return undefined;
  if (links instanceof Set) {
    links.delete(cell);
    return links.size === 0 ? undefined : links;
  }
  if (!isArray(links) || !links.includes(cell)) return links;
  const rest = links.filter((link) => link !== cell);
  return rest.length === 1 ? rest[0] : rest;
}

export function hasLink<T extends object>(links: Links<T>, cell: T): boolean {
  if (links instanceof Set) return links.has(cell);
  return isArray(links) ? links.includes(cell) : links === cell;
}

export function eachLink<T extends object>(links: Links<T>): Iterable<T> {
  if (links === undefined) return [];
  return links instanceof Set || isArray(links) ? links : [links];
}

function isArray<T extends object>(links: Links<T>): links is readonly T[] {
  return Array.isArray(links);
}
