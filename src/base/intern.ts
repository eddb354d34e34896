/**
 * One object for all equal values, so that identity can stand for equality. Values are frozen plain data; equality is that of
 * their canonical JSON (keys sorted, undefined left out).
 */
export class Interner<T extends object> {
  readonly #pool = new Map<string, T>();

  intern(value: T): T {
    const key = canonicalJson(value);
    const known = this.#pool.get(key);
    if (known !== undefined) return known;
    this.#pool.set(key, value);
    return Object.freeze(value);
  }
}

/** JSON with sorted keys: the same text for equal values. Undefined fields are left out. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([name, field]) => `${JSON.stringify(name)}:${canonicalJson(field)}`);
  return `{${fields.join()}}`;
}
