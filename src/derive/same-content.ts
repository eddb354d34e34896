/** Whether two values, both trees of data, have the same content. Functions count as the same: they cannot be compared. */
export function sameContent(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a === 'function' && typeof b === 'function') return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
  if (a instanceof Map && b instanceof Map) return sameContent([...a], [...b]);
  if (a instanceof Set && b instanceof Set) return sameContent([...a], [...b]);
  if (a instanceof Error && b instanceof Error && a.message !== b.message) return false;
  const others = new Map(Object.entries(b));
  const fields = Object.entries(a);
  return fields.length === others.size && fields.every(([k, v]) => others.has(k) && sameContent(v, others.get(k)));
}
