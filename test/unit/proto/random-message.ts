import { Buffer } from 'node:buffer';
import protobuf from 'protobufjs';
import { jsonName } from '../../../build/proto/model.ts';
import type { JsonValue } from '../../../src/base/json.ts';

/** One message in two forms: canonical proto JSON, and what protobufjs's own encoder takes. */
export interface RandomMessage {
  readonly json: JsonValue;
  readonly plain: Readonly<Record<string, unknown>>;
}

interface Pair {
  readonly json: JsonValue;
  readonly plain: unknown;
}

const DEEPEST = 5;
const TEXTS = ['a', 'reviews.default', 'ä€𝄞', 'x'.repeat(200), ' {"quoted"}\n'];
const LONGS = ['1', '-1', '9007199254740993', '9223372036854775807', '-9223372036854775808', '4294967296'];
const UNSIGNED_LONGS = ['1', '18446744073709551615', '9007199254740993', '4294967295'];
const INTS = [1, -1, 127, 128, 300, 2147483647, -2147483648];
const UNSIGNED_INTS = [1, 127, 128, 16384, 2097152, 268435456, 4294967295];
const DOUBLES: readonly (readonly [JsonValue, number])[] = [
  [0.1, 0.1],
  [-2.5e300, -2.5e300],
  [5e-324, 5e-324],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['-Infinity', Number.NEGATIVE_INFINITY],
  ['NaN', Number.NaN],
];
const FLOATS: readonly (readonly [JsonValue, number])[] = [
  [0.1, 0.1],
  [-16777216, -16777216],
  [3.4028235e38, 3.4028234663852886e38],
  ['NaN', Number.NaN],
];
const DURATIONS: readonly (readonly [string, string, number])[] = [
  ['5s', '5', 0],
  ['0s', '0', 0],
  ['0.250s', '0', 250_000_000],
  ['-1.000000001s', '-1', -1],
  ['-0.500s', '0', -500_000_000],
  ['315576000000s', '315576000000', 0],
  ['3.000005s', '3', 5_000],
];
const TIMESTAMPS: readonly (readonly [string, string, number])[] = [
  ['1970-01-01T00:00:00Z', '0', 0],
  ['2026-11-28T02:08:00.500Z', '1795831680', 500_000_000],
  ['0001-01-01T00:00:00Z', '-62135596800', 0],
  ['1969-12-31T23:59:59.999999999Z', '-1', 999_999_999],
];

/** Random messages; equal seeds give equal ones. */
export class MessageSource {
  readonly #root: protobuf.Root;
  /** Full names of the fields that were given a value so far. */
  readonly fields: Set<string> = new Set();
  #state: number;

  constructor(root: protobuf.Root, seed: number) {
    this.#root = root;
    this.#state = seed;
  }

  message(type: protobuf.Type, depth = 0): RandomMessage {
    return (this.#wellKnown(type, depth) ?? this.#fieldsOf(type, depth)) as RandomMessage;
  }

  /** A number from 0 to below `end` (mulberry32). */
  #below(end: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % end;
  }

  #one<T>(values: readonly T[]): T {
    return values[this.#below(values.length)] as T;
  }

  #fieldsOf(type: protobuf.Type, depth: number): Pair {
    const json: Record<string, JsonValue> = {};
    const plain: Record<string, unknown> = {};
    const taken = new Set<protobuf.OneOf>();
    // At the top most fields are set, further down few, so that messages end.
    const chances = [7, 4, 2, 1, 1, 0][depth] ?? 0;
    const start = this.#below(Math.max(type.fieldsArray.length, 1));
    for (const index of type.fieldsArray.keys()) {
      const field = type.fieldsArray[(start + index) % type.fieldsArray.length] as protobuf.Field;
      if (this.#below(10) >= chances || (field.partOf !== null && taken.has(field.partOf))) continue;
      const value = this.#fieldValue(field, depth);
      if (value === undefined) continue;
      if (field.partOf !== null) taken.add(field.partOf);
      this.fields.add(field.fullName);
      json[jsonName(field.name)] = value.json;
      plain[field.name] = value.plain;
    }
    return { json, plain };
  }

  #fieldValue(field: protobuf.Field, depth: number): Pair | undefined {
    if (field.resolvedType instanceof protobuf.Type && depth >= DEEPEST) return undefined;
    if (field instanceof protobuf.MapField) return this.#map(field, depth);
    if (field.repeated) {
      const items = Array.from({ length: 1 + this.#below(3) }, () => this.#item(field, depth));
      return { json: items.map(({ json }) => json), plain: items.map(({ plain }) => plain) };
    }
    return this.#item(field, depth, !field.hasPresence);
  }

  /** Keys are in order already, as protobufjs writes a map in the order of its keys. */
  #map(field: protobuf.MapField, depth: number): Pair {
    const keys =
      field.keyType === 'string' ? ['a', 'b-c', 'ä'] : field.keyType === 'bool' ? ['false', 'true'] : ['0', '7', '300'];
    const from = this.#below(keys.length);
    const entries = keys.slice(from).map((key) => [key, this.#item(field as protobuf.FieldBase, depth)] as const);
    return {
      json: Object.fromEntries(entries.map(([key, { json }]) => [key, json])),
      plain: Object.fromEntries(entries.map(([key, { plain }]) => [key, plain])),
    };
  }

  #item(field: protobuf.FieldBase, depth: number, nonDefault = false): Pair {
    const { resolvedType } = field;
    if (resolvedType instanceof protobuf.Type) return this.message(resolvedType, depth + 1);
    if (resolvedType?.fullName === '.google.protobuf.NullValue') return { json: null, plain: 0 };
    if (resolvedType instanceof protobuf.Enum) {
      const names = Object.keys(resolvedType.values).filter((name) => !nonDefault || resolvedType.values[name] !== 0);
      // An enum with one value only has nothing but its default; a number that it lacks is allowed.
      if (names.length === 0) return { json: 77, plain: 77 };
      const number = resolvedType.values[this.#one(names)];
      return {
        json: Object.keys(resolvedType.values).find((name) => resolvedType.values[name] === number) ?? 0,
        plain: number,
      };
    }
    return this.scalar(field.type, nonDefault);
  }

  scalar(type: string, nonDefault = false): Pair {
    const withDefault = !nonDefault && this.#below(4) === 0;
    switch (type) {
      case 'string':
        return same(withDefault ? '' : this.#one(TEXTS));
      case 'bool':
        return same(!withDefault);
      case 'bytes': {
        const bytes = Buffer.from(withDefault ? [] : [this.#below(256), 0, 255, this.#below(256)]);
        return { json: bytes.toString('base64'), plain: bytes };
      }
      case 'double':
      case 'float': {
        const [json, plain] = withDefault ? ([0, 0] as const) : this.#one(type === 'float' ? FLOATS : DOUBLES);
        return { json, plain };
      }
      default:
        return this.#integer(type, withDefault);
    }
  }

  #integer(type: string, zero: boolean): Pair {
    const unsigned = type.startsWith('u') || type.startsWith('fixed');
    if (!type.endsWith('64')) return same(zero ? 0 : this.#one(unsigned ? UNSIGNED_INTS : INTS));
    const text = zero ? '0' : this.#one(unsigned ? UNSIGNED_LONGS : LONGS);
    return { json: text, plain: long(text) };
  }

  #wellKnown(type: protobuf.Type, depth: number): Pair | undefined {
    const name = type.fullName.slice('.google.protobuf.'.length);
    if (!type.fullName.startsWith('.google.protobuf.')) return undefined;
    if (name === 'Duration' || name === 'Timestamp') {
      const [json, seconds, nanos] = this.#one(name === 'Duration' ? DURATIONS : TIMESTAMPS);
      return { json, plain: { seconds: long(seconds), nanos } };
    }
    if (name === 'Any') return this.#any(depth);
    if (name === 'Struct') return this.#struct(depth);
    if (name === 'ListValue') return this.#list(depth);
    if (name === 'Value') return this.#value(depth);
    if (!name.endsWith('Value')) return undefined;
    const { json, plain } = this.scalar((type.fields['value'] as protobuf.Field).type);
    return { json, plain: { value: plain } };
  }

  #any(depth: number): Pair {
    const name = this.#one([
      'envoy.config.core.v3.Locality',
      'envoy.config.core.v3.DataSource',
      'google.protobuf.Duration',
      'google.protobuf.Any',
      'google.protobuf.UInt32Value',
      'google.protobuf.Empty',
      'udpa.type.v1.TypedStruct',
    ]);
    const type = this.#root.lookupType(name);
    const { json, plain } = depth >= DEEPEST ? { json: {}, plain: {} } : this.message(type, depth + 1);
    if (depth >= DEEPEST) return { json, plain };
    const url = `type.googleapis.com/${name}`;
    const own = name.startsWith('google.protobuf.') && name !== 'google.protobuf.Empty';
    const value = type.encode(type.create(plain)).finish();
    return {
      json: own ? { '@type': url, value: json } : { '@type': url, ...(json as Record<string, JsonValue>) },
      plain: { type_url: url, value },
    };
  }

  #struct(depth: number): Pair {
    const entries = ['a', 'b'].slice(this.#below(3)).map((key) => [key, this.#value(depth + 1)] as const);
    return {
      json: Object.fromEntries(entries.map(([key, { json }]) => [key, json])),
      plain: { fields: Object.fromEntries(entries.map(([key, { plain }]) => [key, plain])) },
    };
  }

  #list(depth: number): Pair {
    const items = Array.from({ length: this.#below(3) }, () => this.#value(depth + 1));
    return { json: items.map(({ json }) => json), plain: { values: items.map(({ plain }) => plain) } };
  }

  #value(depth: number): Pair {
    const kind = this.#below(depth >= DEEPEST ? 4 : 6);
    if (kind === 0) return { json: null, plain: { nullValue: 0 } };
    if (kind === 4) return wrapped('structValue', this.#struct(depth + 1));
    if (kind === 5) return wrapped('listValue', this.#list(depth + 1));
    if (kind === 1) return wrapped('numberValue', same(this.#one([0, 1.5, -3])));
    return kind === 2
      ? wrapped('stringValue', this.scalar('string'))
      : wrapped('boolValue', same(this.#below(2) === 0));
  }
}

/** A 64-bit integer as protobufjs takes it. */
function long(text: string): { readonly low: number; readonly high: number; readonly unsigned: boolean } {
  const value = BigInt(text);
  const low = Number(BigInt.asIntN(32, value));
  return { low, high: Number(BigInt.asIntN(32, value >> 32n)), unsigned: value > 0n };
}

const same = (value: JsonValue): Pair => ({ json: value, plain: value });

const wrapped = (name: string, { json, plain }: Pair): Pair => ({ json, plain: { [name]: plain } });
