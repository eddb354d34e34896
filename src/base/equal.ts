/** Deep equality of plain data: arrays, Maps and records of JSON-like values. An undefined field equals an absent one. */
export function deepEqual(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) return Array.isArray(a) && Array.isArray(b) && sameItems(a, b, deepEqual);
  if (a instanceof Map || b instanceof Map) return a instanceof Map && b instanceof Map && equalMaps(a, b);
  return coveredBy(a, b) && coveredBy(b, a);
}

function coveredBy(a: object, b: object): boolean {
  for (const key in a) {
    if (!deepEqual((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key])) return false;
  }
  return true;
}

function equalMaps(a: ReadonlyMap<unknown, unknown>, b: ReadonlyMap<unknown, unknown>): boolean {
  if (a.size !== b.size) return false;
  for (const [key, value] of a) if (!b.has(key) || !deepEqual(value, b.get(key))) return false;
  return true;
}

/** Whether two lists hold the same items in the same order. */
export function sameItems<T>(a: readonly T[], b: readonly T[], same: (x: T, y: T) => boolean = Object.is): boolean {
  return a === b || (a.length === b.length && a.every((item, i) => same(item, b[i] as T)));
}
