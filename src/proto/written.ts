import { ENCODERS } from '#generated/proto/encoder.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts';
import { nearestName } from '../base/nearest-name.ts';
import { decodeMessage } from './decode.ts';
import { type FieldDescriptor, type MessageDescriptor, messageDescriptor } from './descriptors.ts';
import { UnknownMessageError } from './errors.ts';
import { encodeMessage } from './message.ts';
import { messageName, typeUrl } from './type-urls.ts';
import { Writer } from './writer.ts';

/** What is odd about a message that somebody wrote by hand. */
export interface WrittenProblem {
  /**
   * `value`: it is no such message. `unknown-field`: it is read without that field, as a later Envoy may know it.
   * `unknown-type`: the message that an Any holds is not known, and goes as a TypedStruct, which
   * Envoy itself makes a message of.
   */
  readonly kind: 'value' | 'unknown-field' | 'unknown-type';
  /** From the message, in the spelling of whoever wrote it. */
  readonly path: readonly (string | number)[];
  /** What is wrong, and what to write instead. */
  readonly message: string;
  /** Another name that was likely meant. */
  readonly nearest?: string;
}

export interface WrittenMessage {
  /** In proto JSON as `decodeMessage` gives it; absent when some problem is a `value`. */
  readonly message?: JsonObject;
  readonly problems: readonly WrittenProblem[];
  /** Full names of the messages that stand in Anys, sorted. */
  readonly packed: readonly string[];
  /** Those of them that somebody wrote as a TypedStruct. */
  readonly structs: readonly string[];
}

type Path = readonly (string | number)[];

const ANY = 'google.protobuf.Any';
const TYPED_STRUCT = 'xds.type.v3.TypedStruct';
/** Messages that hold any JSON: nothing in them is looked at. */
const FREE: ReadonlySet<string> = new Set([
  'google.protobuf.Struct',
  'google.protobuf.Value',
  'google.protobuf.ListValue',
]);
const TYPED_STRUCTS: ReadonlySet<string> = new Set([TYPED_STRUCT, 'udpa.type.v1.TypedStruct']);

/**
 * Reads a message that is written in proto JSON with either spelling of names (`connect_timeout`, `connectTimeout`).
 *
 * @throws UnknownMessageError when `fullName` is not known
 */
export function readWritten(fullName: string, value: unknown): WrittenMessage {
  const type = messageDescriptor(fullName);
  if (type === undefined) throw new UnknownMessageError(fullName);
  const reading = new Reading();
  const read = reading.message(type, value, []);
  const { problems } = reading;
  const packed = [...reading.packed].sort();
  const structs = [...reading.structs].sort();
  if (problems.some(({ kind }) => kind === 'value')) return { problems, packed, structs };
  // What the bytes hold is what counts: defaults are gone, enums have their names, bytes one alphabet.
  return { message: decodeMessage(fullName, encodeMessage(fullName, read as object)), problems, packed, structs };
}

/** Of fields by both spellings of their names. */
const FIELDS: WeakMap<MessageDescriptor, ReadonlyMap<string, FieldDescriptor>> = new WeakMap();

function fieldsOf(type: MessageDescriptor): ReadonlyMap<string, FieldDescriptor> {
  const known = FIELDS.get(type);
  if (known !== undefined) return known;
  const fields = [...type.byNumber.values()];
  const made = new Map([
    ...fields.map((field) => [field.jsonName, field] as const),
    ...fields.map((field) => [field.name, field] as const),
  ]);
  FIELDS.set(type, made);
  return made;
}

class Reading {
  readonly problems: WrittenProblem[] = [];
  readonly packed: Set<string> = new Set();
  readonly structs: Set<string> = new Set();

  message(type: MessageDescriptor, value: unknown, path: Path, ignored = ''): JsonValue | undefined {
    if (type.name === ANY) return this.#any(value, path);
    if (FREE.has(type.name)) return this.#free(type, value, path);
    if (ENCODERS.get(type.name)?.wellKnown === true) return this.#wellKnown(type, value, path);
    if (!isJsonObject(value)) {
      this.#wrong(path, `must be an object with the fields of ${type.name}`);
      return undefined;
    }
    const out: Record<string, JsonValue> = {};
    const set = new Map<number, string>();
    const fields = fieldsOf(type);
    for (const [key, item] of Object.entries(value)) {
      if (item === null || item === undefined || key === ignored) continue;
      const field = fields.get(key);
      if (field === undefined) {
        this.#unknownField(type, key, [...path, key]);
        continue;
      }
      if (out[field.jsonName] !== undefined) this.#wrong([...path, key], 'stands twice, in two spellings');
      const other = field.oneof === undefined ? undefined : set.get(field.oneof);
      if (other !== undefined) this.#wrong([...path, key], `excludes "${other}", which is set too: remove one`);
      if (field.oneof !== undefined) set.set(field.oneof, key);
      const read = this.#field(field, item, [...path, key]);
      if (read !== undefined) out[field.jsonName] = read;
    }
    if (TYPED_STRUCTS.has(type.name) && typeof out['typeUrl'] === 'string') {
      this.packed.add(messageName(out['typeUrl']));
      this.structs.add(messageName(out['typeUrl']));
    }
    return out;
  }

  #field({ shape, type, key }: FieldDescriptor, value: JsonValue, path: Path): JsonValue | undefined {
    if (shape === 'single') return this.#single(type, value, path);
    if (shape === 'list') {
      if (!Array.isArray(value)) {
        this.#wrong(path, 'must be a list');
        return undefined;
      }
      return value.flatMap((item, i) => this.#single(type, item, [...path, i]) ?? []);
    }
    if (!isJsonObject(value)) {
      this.#wrong(path, 'must be a map');
      return undefined;
    }
    const out: Record<string, JsonValue> = {};
    for (const [name, item] of Object.entries(value)) {
      const place = [...path, name];
      if (key !== undefined && key !== 'bool') this.#attempt(place, (writer) => writer[key](name));
      const read = this.#single(type, item ?? null, place);
      if (read !== undefined) out[name] = read;
    }
    return out;
  }

  #single(type: FieldDescriptor['type'], value: JsonValue, path: Path): JsonValue | undefined {
    if (typeof type === 'string') {
      this.#attempt(path, (writer) => writer[type](value));
      return value;
    }
    if (type.kind === 'message') return this.message(type, value, path);
    if (typeof value === 'string' && !type.numbers.has(value)) {
      const nearest = nearestName(value, type.numbers.keys());
      const instead = nearest === undefined ? `one of ${[...type.numbers.keys()].join(', ')}` : `"${nearest}"`;
      this.#problem('value', path, `"${value}" is no ${type.name}: write ${instead}`, nearest);
      return undefined;
    }
    this.#attempt(path, (writer) => writer.enum(value, Object.fromEntries(type.numbers)));
    return value;
  }

  #any(value: unknown, path: Path): JsonValue | undefined {
    if (!isJsonObject(value)) {
      this.#wrong(path, 'must be an object with "@type", the type of the message in it');
      return undefined;
    }
    const url = value['@type'];
    if (typeof url !== 'string' || url === '') {
      this.#wrong(path, 'needs "@type", as "type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua"');
      return undefined;
    }
    const name = messageName(url);
    this.packed.add(name);
    const type = messageDescriptor(name);
    if (type === undefined) return this.#unknownType(url, value, path);
    if (ENCODERS.get(name)?.wellKnown === true) {
      const content = this.message(type, value['value'], [...path, 'value']);
      return content === undefined ? undefined : { '@type': url, value: content };
    }
    const content = this.message(type, value, path, '@type');
    return isJsonObject(content) ? { '@type': url, ...content } : undefined;
  }

  #unknownType(url: string, { '@type': _type, ...fields }: JsonObject, path: Path): JsonValue {
    const name = messageName(url);
    const nearest = nearestType(name);
    const instead = nearest === undefined ? '' : `; did you mean "${nearest}"?`;
    this.#problem('unknown-type', [...path, '@type'], `"${name}" is not a known message${instead}`, nearest);
    return { '@type': typeUrl(TYPED_STRUCT), typeUrl: url, value: fields };
  }

  #free({ name }: MessageDescriptor, value: unknown, path: Path): JsonValue | undefined {
    if (name === 'google.protobuf.Struct' && !isJsonObject(value)) this.#wrong(path, 'must be a map');
    else if (name === 'google.protobuf.ListValue' && !Array.isArray(value)) this.#wrong(path, 'must be a list');
    else return value as JsonValue;
    return undefined;
  }

  #wellKnown({ name }: MessageDescriptor, value: unknown, path: Path): JsonValue | undefined {
    const written = this.#attempt(path, (writer) => ENCODERS.get(name)?.write(writer, value, 0));
    return written ? (value as JsonValue) : undefined;
  }

  #attempt(path: Path, write: (writer: Writer) => void): boolean {
    try {
      write(new Writer(ENCODERS));
      return true;
    } catch (error) {
      this.#wrong(path, error instanceof Error ? error.message : String(error));
      return false;
    }
  }

  #unknownField(type: MessageDescriptor, key: string, path: Path): void {
    const names = [...type.byNumber.values()].map((field) => (/[A-Z]/.test(key) ? field.jsonName : field.name));
    const nearest = nearestName(key, names);
    const instead = nearest === undefined ? '' : `; did you mean "${nearest}"?`;
    this.#problem('unknown-field', path, `${type.name} has no field "${key}"${instead}`, nearest);
  }

  #wrong(path: Path, message: string): void {
    this.#problem('value', path, message);
  }

  #problem(kind: WrittenProblem['kind'], path: Path, message: string, nearest?: string): void {
    this.problems.push({ kind, path, message, ...(nearest === undefined ? {} : { nearest }) });
  }
}

/** A message of the same folder that is spelt alike, or one of version 3 of the same extension. */
function nearestType(name: string): string | undefined {
  const last = name.slice(name.lastIndexOf('.') + 1);
  const folder = name.slice(0, -last.length);
  const names = [...ENCODERS.keys()];
  const beside = names.filter((known) => known.startsWith(folder)).map((known) => known.slice(folder.length));
  const near = nearestName(last, beside);
  if (near !== undefined) return folder + near;
  const extension = folder
    .split('.')
    .filter((part) => part !== '' && !/^v\d/.test(part))
    .at(-1);
  return names.find((known) => known.endsWith(`.${extension}.v3.${last}`));
}
