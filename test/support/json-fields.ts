import { isJsonObject, type JsonObject, type JsonValue } from '../../src/base/json.ts';

/** Reading messages without believing that they have the form that is expected: what is no object is one without fields. */
export function object(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** The objects of a list. */
export function objects(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
