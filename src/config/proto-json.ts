import { isJsonObject } from '../base/json.ts';
import { protoDuration } from '../base/proto-duration.ts';
import type { Field, Message, Type } from './schema/schema.ts';

/** A spec in the proto JSON of its message: durations are in seconds there, and what the schema does not know is left out. */
export function inProtoJson(schema: Message, spec: unknown): object {
  if (!isJsonObject(spec)) return {};
  return Object.fromEntries(
    Object.entries(spec).flatMap(([name, value]) => {
      const field = schema.fields[name];
      return field === undefined ? [] : [[name, fieldValue(field, value)]];
    }),
  );
}

function fieldValue({ shape, type }: Field, value: unknown): unknown {
  if (shape === 'list' && Array.isArray(value)) return value.map((item) => valueOf(type, item));
  if (shape === 'map' && isJsonObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, valueOf(type, item)]));
  }
  return valueOf(type, value);
}

function valueOf(type: Type, value: unknown): unknown {
  if (type.kind === 'message') return inProtoJson(type, value);
  return type.kind === 'duration' && typeof value === 'string' ? protoDuration(value) : value;
}
