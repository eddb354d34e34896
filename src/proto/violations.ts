import { Buffer } from 'node:buffer';
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts';
import { type FieldDescriptor, type MessageDescriptor, messageDescriptor } from './descriptors.ts';
import { UnknownMessageError } from './errors.ts';
import { type FieldRules, rulesOf } from './rules.ts';
import { messageName } from './type-urls.ts';

/** What of a message its proto forbids, so that Envoy refuses it. */
export interface Violation {
  /** From the message, in names of proto JSON. */
  readonly path: readonly (string | number)[];
  /** What is wrong, as the end of a sentence that begins with the field. */
  readonly message: string;
}

type Path = readonly (string | number)[];

/**
 * Rules of the protos that a message breaks, those in Anys too. Not every rule is known here: none found does not mean that
 * Envoy takes it.
 *
 * @param message in proto JSON as `decodeMessage` gives it
 * @throws UnknownMessageError when the type is not known
 */
export function violations(fullName: string, message: JsonObject): readonly Violation[] {
  const type = messageDescriptor(fullName);
  if (type === undefined) throw new UnknownMessageError(fullName);
  return [...inMessage(type, message, [])];
}

function* inMessage(type: MessageDescriptor, message: JsonValue, path: Path): Generator<Violation> {
  if (!isJsonObject(message)) return;
  if (type.name === 'google.protobuf.Any') {
    const { '@type': url, ...fields } = message;
    const packed = typeof url === 'string' ? messageDescriptor(messageName(url)) : undefined;
    if (packed !== undefined && packed.name !== type.name) yield* inMessage(packed, fields, path);
    return;
  }
  if (type.name.startsWith('google.protobuf.')) return;
  const rules = rulesOf(type.name);
  for (const names of rules?.oneofs ?? []) {
    const fields = [...type.byNumber.values()].filter(({ name }) => names.includes(name));
    if (fields.every(({ jsonName }) => message[jsonName] === undefined)) {
      yield { path, message: `needs one of ${names.join(', ')}` };
    }
  }
  for (const field of type.byNumber.values()) {
    const value = message[field.jsonName];
    const place = [...path, field.jsonName];
    const own = rules?.fields[field.name];
    if (own !== undefined) for (const said of broken(field, value, own)) yield { path: place, message: said };
    if (value !== undefined && typeof field.type !== 'string' && field.type.kind === 'message') {
      yield* inMessages(field.type, field.shape, value, place);
    }
  }
}

function* inMessages(
  type: MessageDescriptor,
  shape: FieldDescriptor['shape'],
  value: JsonValue,
  path: Path,
): Generator<Violation> {
  if (shape === 'single') yield* inMessage(type, value, path);
  else if (Array.isArray(value)) for (const [i, item] of value.entries()) yield* inMessage(type, item, [...path, i]);
  else if (isJsonObject(value))
    for (const [key, item] of Object.entries(value)) yield* inMessage(type, item ?? null, [...path, key]);
}

/** What a field is when it is not there: `undefined` where that is no value, so that rules on values do not count. */
function valueOf(
  { type, shape, presence, oneof }: FieldDescriptor,
  value: JsonValue | undefined,
): JsonValue | undefined {
  if (value !== undefined || presence || oneof !== undefined) return value;
  if (shape === 'list') return [];
  if (shape === 'map') return {};
  if (type === 'string' || type === 'bytes') return '';
  if (type === 'bool') return false;
  return typeof type === 'string' ? 0 : undefined;
}

function* broken(field: FieldDescriptor, written: JsonValue | undefined, rules: FieldRules): Generator<string> {
  const value = valueOf(field, written);
  const isEmpty = value === '' && rules['string.ignore_empty'] === true;
  for (const [rule, limit] of Object.entries(rules)) {
    const [kind = '', ...rest] = rule.split('.');
    if (rest.join('.') === 'required') {
      // Of several fields that exclude each other only the one that is set counts.
      if (limit === true && written === undefined && field.oneof === undefined) yield 'is required';
    } else if (value === undefined || isEmpty) continue;
    else if (kind === 'repeated' && rest[0] === 'items' && Array.isArray(value)) {
      const said = value.map((item) => brokenBy(rest.slice(1), item, limit, rules)).find((one) => one !== undefined);
      if (said !== undefined) yield `has an item that ${said}`;
    } else {
      const said = brokenBy([kind, ...rest], value, limit, rules);
      if (said !== undefined) yield said;
    }
  }
}

const HEADER_NAME = /^:?[\w!#$%&'*+.^|~`-]+$/;

/** Why a value breaks a rule; undefined: it does not, or the rule is not known here. */
function brokenBy(rule: readonly string[], value: JsonValue, limit: unknown, all: FieldRules): string | undefined {
  const least = Number(limit);
  switch (rule.join('.')) {
    case 'string.min_len':
    case 'bytes.min_len':
      if (typeof value === 'string' && value.length < least) return value === '' ? 'must not be empty' : `is too short`;
      return undefined;
    case 'string.max_bytes':
      return typeof value === 'string' && Buffer.byteLength(value) > least
        ? `is longer than ${least} bytes`
        : undefined;
    case 'string.well_known_regex':
      if (typeof value !== 'string') return undefined;
      if (/[\0\r\n]/.test(value)) return 'holds a line break';
      if (limit !== 'HTTP_HEADER_NAME' || all['string.strict'] === false || HEADER_NAME.test(value)) return undefined;
      return 'is no name of a header';
    case 'enum.defined_only':
      return typeof value === 'number' ? `is no value of the enum` : undefined;
    case 'bool.const':
      return value === limit ? undefined : `must be ${limit}`;
    case 'repeated.min_items':
      return Array.isArray(value) && value.length < least ? `needs at least ${least} items` : undefined;
    case 'repeated.max_items':
      return Array.isArray(value) && value.length > least ? `has more than ${least} items` : undefined;
    case 'map.min_pairs':
      return isJsonObject(value) && Object.keys(value).length < least ? `needs at least ${least} entries` : undefined;
    default:
      return rule[0] === 'duration' ? brokenDuration(rule, value, least) : brokenNumber(rule[1], Number(value), least);
  }
}

function brokenNumber(comparison: string | undefined, value: number, limit: number): string | undefined {
  if (Number.isNaN(value) || Number.isNaN(limit)) return undefined;
  if (comparison === 'gt' && value <= limit) return `must be above ${limit}`;
  if (comparison === 'gte' && value < limit) return `must be at least ${limit}`;
  if (comparison === 'lt' && value >= limit) return `must be below ${limit}`;
  if (comparison === 'lte' && value > limit) return `must be at most ${limit}`;
  return undefined;
}

/** @param rule `['duration', 'gte', 'seconds']`, or `nanos` */
function brokenDuration([, comparison, unit]: readonly string[], value: JsonValue, limit: number): string | undefined {
  const seconds = typeof value === 'string' ? Number.parseFloat(value) : Number.NaN;
  const said = brokenNumber(comparison, seconds, unit === 'nanos' ? limit / 1e9 : limit);
  return said && `${said} s`;
}
