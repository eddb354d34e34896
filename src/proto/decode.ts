import { Buffer } from 'node:buffer';
import type { JsonObject, JsonValue } from '../base/json.ts';
import { type FieldDescriptor, type MessageDescriptor, messageDescriptor, type ScalarType } from './descriptors.ts';
import { UnknownMessageError } from './errors.ts';
import { durationText, shortestFloat, timestampText } from './json-text.ts';
import { readList, readStruct, readValue, setKey } from './read-struct.ts';
import { Reader } from './reader.ts';
import { messageName } from './type-urls.ts';

type Fields = Record<string, JsonValue>;

/**
 * A message in the proto JSON that Go's protojson writes: lowerCamelCase, defaults left out, enums by name, 64-bit integers
 * as text, bytes in base64, an Any with its message's fields beside `@type`. An Any of an unknown type holds its bytes in
 * base64 under `value`. Fields that are not known are left out.
 *
 * @throws UnknownMessageError when the type is not known
 * @throws DecodeError when the bytes are no such message
 */
export function decodeMessage(fullName: string, bytes: Uint8Array): JsonObject {
  const type = messageDescriptor(fullName);
  if (type === undefined) throw new UnknownMessageError(fullName);
  return readJson(new Reader(bytes), type) as JsonObject;
}

/** The rest of the current message; `known` is what an earlier part of the same field held. */
function readJson(reader: Reader, type: MessageDescriptor, known?: JsonValue): JsonValue {
  const read = WELL_KNOWN.get(type.name);
  return read === undefined ? readFields(reader, type, known as Fields | undefined) : read(reader, type);
}

function readFields(reader: Reader, type: MessageDescriptor, known: Fields = {}): Fields {
  while (reader.more()) {
    const tag = reader.tag();
    const field = type.byNumber.get(tag >>> 3);
    if (field === undefined || !readField(reader, tag & 7, field, known)) reader.skip(tag);
    else if (field.oneof !== undefined) clearOthers(known, type, field);
  }
  return known;
}

/** The last one of a oneof's fields counts. */
function clearOthers(fields: Fields, type: MessageDescriptor, { oneof, jsonName }: FieldDescriptor): void {
  for (const other of type.byNumber.values()) {
    if (other.oneof === oneof && other.jsonName !== jsonName) delete fields[other.jsonName];
  }
}

/** Whether the value has a wire type that the field can have; if not, nothing is read. */
function readField(reader: Reader, wireType: number, field: FieldDescriptor, fields: Fields): boolean {
  const { jsonName, shape, type } = field;
  const known = fields[jsonName];
  if (shape === 'map') {
    if (wireType !== 2) return false;
    const map = (known ?? {}) as Fields;
    reader.nested(() => readEntry(reader, field, map));
    fields[jsonName] = map;
  } else if (shape === 'list') {
    const list = (known ?? []) as JsonValue[];
    if (wireType === wireTypeOf(type)) list.push(readSingle(reader, type));
    else if (wireType === 2) {
      reader.nested(() => {
        while (reader.more()) list.push(readSingle(reader, type));
      });
    } else return false;
    // An empty packed list is no list.
    if (list.length > 0) fields[jsonName] = list;
  } else {
    if (wireType !== wireTypeOf(type)) return false;
    const value = readSingle(reader, type, known);
    if (field.presence || !isDefault(value, type)) fields[jsonName] = value;
    else delete fields[jsonName];
  }
  return true;
}

function readEntry(reader: Reader, { key = 'string', type }: FieldDescriptor, map: Fields): void {
  let name = key === 'string' ? '' : key === 'bool' ? 'false' : '0';
  let value = defaultOf(type);
  while (reader.more()) {
    const tag = reader.tag();
    if (tag === (0x08 | wireTypeOf(key))) name = String(readSingle(reader, key));
    else if (tag === (0x10 | wireTypeOf(type))) value = readSingle(reader, type);
    else reader.skip(tag);
  }
  setKey(map, name, value);
}

function readSingle(reader: Reader, type: FieldDescriptor['type'], known?: JsonValue): JsonValue {
  if (typeof type === 'string') return READ_SCALAR[type](reader);
  if (type.kind === 'message') return reader.nested(() => readJson(reader, type, known));
  const number = reader.int32();
  return type.name === 'google.protobuf.NullValue' ? null : (type.names.get(number) ?? number);
}

function wireTypeOf(type: FieldDescriptor['type']): number {
  if (typeof type !== 'string') return type.kind === 'enum' ? 0 : 2;
  if (type === 'string' || type === 'bytes') return 2;
  if (type === 'double' || type === 'fixed64' || type === 'sfixed64') return 1;
  return type === 'float' || type === 'fixed32' || type === 'sfixed32' ? 5 : 0;
}

const floating = (value: number): JsonValue => (Number.isFinite(value) ? value : String(value));

const READ_SCALAR: Readonly<Record<ScalarType, (reader: Reader) => JsonValue>> = {
  double: (reader) => floating(reader.double()),
  float: (reader) => floating(shortestFloat(reader.float())),
  int32: (reader) => reader.int32(),
  uint32: (reader) => reader.uint32(),
  sint32: (reader) => {
    const value = reader.uint32();
    return (value >>> 1) ^ -(value & 1);
  },
  fixed32: (reader) => reader.fixed32(),
  sfixed32: (reader) => reader.fixed32() | 0,
  int64: (reader) => String(BigInt.asIntN(64, reader.uint64())),
  uint64: (reader) => String(reader.uint64()),
  sint64: (reader) => {
    const value = reader.uint64();
    return String((value >> 1n) ^ -(value & 1n));
  },
  fixed64: (reader) => String(reader.fixed64()),
  sfixed64: (reader) => String(BigInt.asIntN(64, reader.fixed64())),
  bool: (reader) => reader.bool(),
  string: (reader) => reader.string(),
  bytes: (reader) => base64(reader.bytes()),
};

const base64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64');

function defaultOf(type: FieldDescriptor['type']): JsonValue {
  if (typeof type === 'string') return READ_DEFAULT[type] ?? 0;
  if (type.kind === 'enum') return type.names.get(0) ?? 0;
  return readJson(new Reader(new Uint8Array()), type);
}

const READ_DEFAULT: Readonly<Partial<Record<ScalarType, JsonValue>>> = {
  int64: '0',
  uint64: '0',
  sint64: '0',
  fixed64: '0',
  sfixed64: '0',
  bool: false,
  string: '',
  bytes: '',
};

function isDefault(value: JsonValue, type: FieldDescriptor['type']): boolean {
  return Object.is(value, defaultOf(type));
}

type ReadWellKnown = (reader: Reader, type: MessageDescriptor) => JsonValue;

/** Of a wrapper: what its only field holds. */
const readWrapper: ReadWellKnown = (reader, type) => {
  const value = readFields(reader, type)['value'];
  const field = type.byNumber.get(1);
  return value ?? (field === undefined ? null : defaultOf(field.type));
};

/** The messages whose proto JSON is not an object of their fields. */
const WELL_KNOWN: ReadonlyMap<string, ReadWellKnown> = new Map<string, ReadWellKnown>([
  ['google.protobuf.Any', readAny],
  ['google.protobuf.BoolValue', readWrapper],
  ['google.protobuf.BytesValue', readWrapper],
  ['google.protobuf.DoubleValue', readWrapper],
  ['google.protobuf.Duration', (reader, type) => durationText(readFields(reader, type))],
  ['google.protobuf.FloatValue', readWrapper],
  ['google.protobuf.Int32Value', readWrapper],
  ['google.protobuf.Int64Value', readWrapper],
  ['google.protobuf.ListValue', readList],
  ['google.protobuf.StringValue', readWrapper],
  ['google.protobuf.Struct', readStruct],
  ['google.protobuf.Timestamp', (reader, type) => timestampText(readFields(reader, type))],
  ['google.protobuf.UInt32Value', readWrapper],
  ['google.protobuf.UInt64Value', readWrapper],
  ['google.protobuf.Value', readValue],
]);

function readAny(reader: Reader): JsonValue {
  let url = '';
  let value: Uint8Array = new Uint8Array();
  while (reader.more()) {
    const tag = reader.tag();
    if (tag === 0x0a) url = reader.string();
    else if (tag === 0x12) value = reader.bytes();
    else reader.skip(tag);
  }
  if (url === '' && value.length === 0) return {};
  const type = messageDescriptor(messageName(url));
  if (type === undefined) return { '@type': url, value: base64(value) };
  const content = reader.inside(value, (inner) => readJson(inner, type));
  return WELL_KNOWN.has(type.name) ? { '@type': url, value: content } : { '@type': url, ...(content as JsonObject) };
}
