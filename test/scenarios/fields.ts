import { isJsonObject, type JsonObject, type JsonValue } from '../../src/base/json.ts';

/** Reading what a check or a resource says without believing that it does. */

export function text(value: JsonValue | undefined): string {
  return value === undefined || value === null ? '' : String(value);
}

export function object(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

export function objects(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
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
