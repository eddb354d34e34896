import type { JsonObject, JsonValue } from '../base/json.ts';
import type { Reader } from './reader.ts';

/** A `google.protobuf.Struct`, to the end of the current message. */
export function readStruct(reader: Reader): JsonObject {
  const object: Record<string, JsonValue> = {};
  while (reader.more()) {
    const tag = reader.tag();
    if (tag === 0x0a) reader.nested(() => readEntry(reader, object));
    else reader.skip(tag);
  }
  return object;
}

function readEntry(reader: Reader, object: Record<string, JsonValue>): void {
  let key = '';
  let value: JsonValue = null;
  while (reader.more()) {
    const tag = reader.tag();
    if (tag === 0x0a) key = reader.string();
    else if (tag === 0x12) value = reader.nested(readValue);
    else reader.skip(tag);
  }
  setKey(object, key, value);
}

/** Sets an own key, whatever its name: `__proto__` from outside must not become the prototype. */
export function setKey<T>(object: Record<string, T>, key: string, value: T): void {
  if (key === '__proto__') {
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  } else {
    object[key] = value;
  }
}

/** A `google.protobuf.Value`, to the end of the current message. One that holds nothing is null. */
export function readValue(reader: Reader): JsonValue {
  let value: JsonValue = null;
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
      case 0x08:
        reader.uint64();
        value = null;
        break;
      case 0x11:
        value = reader.double();
        break;
      case 0x1a:
        value = reader.string();
        break;
      case 0x20:
        value = reader.bool();
        break;
      case 0x2a:
        value = reader.nested(readStruct);
        break;
      case 0x32:
        value = reader.nested(readList);
        break;
      default:
        reader.skip(tag);
    }
  }
  return value;
}

/** A `google.protobuf.ListValue`, to the end of the current message. */
export function readList(reader: Reader): readonly JsonValue[] {
  const list: JsonValue[] = [];
  while (reader.more()) {
    const tag = reader.tag();
    if (tag === 0x0a) list.push(reader.nested(readValue));
    else reader.skip(tag);
  }
  return list;
}
