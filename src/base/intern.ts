import { WeakInterner } from './weak-intern.ts';

/**
 * One object for all equal values for as long as somebody holds it, so that identity can stand for equality. Values are frozen
 * plain data; equality is that of their canonical JSON (keys sorted, undefined left out).
 */
export class Interner<T extends object> {
  readonly #pool = new WeakInterner<T>();

  intern(value: T): T {
    return this.#pool.intern(canonicalJson(value), () => Object.freeze(value));
  }
}

/** JSON with sorted keys: the same text for equal values. Undefined fields are left out. */
export function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  let text = '';
  if (Array.isArray(value)) {
    for (const item of value) text += `${text === '' ? '' : ','}${canonicalJson(item)}`;
    return `[${text}]`;
  }
  const fields = value as Readonly<Record<string, unknown>>;
  for (const name of sortedKeys(fields)) {
    const field = fields[name];
    if (field !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(name)}:${canonicalJson(field)}`;
  }
  return `{${text}}`;
}

/** Most objects have their keys in order, or few of them: a comparison costs less than a sort. */
function sortedKeys(fields: object): readonly string[] {
  const keys = Object.keys(fields);
  for (let i = 1; i < keys.length; i++) if ((keys[i - 1] as string) > (keys[i] as string)) return keys.sort();
  return keys;
}
