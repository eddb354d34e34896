import type { JsonValue } from '../../src/base/json.ts';
import { object } from '../support/json-fields.ts';

/** Reading what a check or a resource says without believing that it does. */

export function text(value: JsonValue | undefined): string {
  return value === undefined || value === null ? '' : String(value);
}

export function texts(value: JsonValue | undefined): readonly string[] {
  return Array.isArray(value) ? value.map(text) : [];
}

/** What stands at `a.b[0].c`. */
export function valueAt(value: JsonValue | undefined, path: string): JsonValue | undefined {
  let at = value;
  for (const part of path.split(/[.[\]]+/).filter((key) => key !== '')) {
    at = Array.isArray(at) ? (at as readonly JsonValue[])[Number(part)] : object(at)[part];
  }
  return at;
}
