import { isJsonObject } from '../base/json.ts';
import { nearestName } from '../base/nearest-name.ts';
import { type Finding, type Path, placeOf } from './finding.ts';
import { noObject } from './schema/no-object.ts';
import { readScalar, shown } from './schema/scalars.ts';
import type { Enum, Field, Message, Scalar } from './schema/schema.ts';

/** What became of a raw value. */
export interface Normalized {
  /**
   * The value in lowerCamelCase, enums by name, without what is unknown, null or an empty list or map (but
   * for maps whose emptiness counts); deep-frozen.
   * Undefined when it can not be read at all (wrong type, bad enum, missing field): an error says why.
   */
  readonly value: object | undefined;
  /** Paths begin at the raw value, with its own spelling of the keys. */
  readonly findings: readonly Finding[];
}

interface Reading {
  /** Where the reader stands. */
  readonly path: (string | number)[];
  readonly findings: Finding[];
  readonly unknownField: 'error' | 'warning';
  readonly deprecatedField: 'warning' | 'info';
  /** Whether of fields of which one may be set the last counts, as for messages that no CRD guards. */
  readonly lastOfGroup: boolean;
  /** Fields around the reader below which out of bounds is but a warning. */
  lenient: number;
  unreadable: boolean;
}

/** Takes the place of a value that can not be read, of which a finding has been made. */
const UNREADABLE: unique symbol = Symbol('unreadable');

/**
 * Reads a value as Istio does its API from JSON: snake_case keys and numbers of enums are understood, unknown fields are
 * dropped. Beyond that it refuses what Istio's CRDs refuse: fields out of bounds, two fields of a group of which one may be set.
 *
 * @see golang/protobuf jsonpb/decode.go
 */
export function normalized(
  schema: Message,
  raw: unknown,
  options: Pick<Reading, 'unknownField' | 'deprecatedField' | 'lastOfGroup'>,
): Normalized {
  const reading: Reading = { ...options, path: [], findings: [], lenient: 0, unreadable: false };
  const value = readMessage(schema, raw ?? {}, reading);
  return { value: reading.unreadable ? undefined : (value as object), findings: reading.findings };
}

function refused(reading: Reading, message: string): typeof UNREADABLE {
  reading.findings.push(placeOf([...reading.path]).error(message));
  reading.unreadable = true;
  return UNREADABLE;
}

/** lowerCamelCase as protobuf makes it of a name in snake_case. */
function camelCase(name: string): string {
  return name.replace(/_+(.)/g, (_, letter: string) => letter.toUpperCase());
}

function readMessage(schema: Message, raw: unknown, reading: Reading): unknown {
  if (!isJsonObject(raw)) return refused(reading, noObject(schema, raw));
  const read: Record<string, unknown> = {};
  const set = new Map<string, string>();
  for (const [written, value] of Object.entries(raw)) {
    const name = fieldName(schema, written, raw);
    if (name === undefined) {
      unknownField(schema, written, reading);
      continue;
    }
    const field = schema.fields[name];
    if (field === undefined || value === null || value === undefined) continue;
    reading.path.push(written);
    if (field.lenient) reading.lenient++;
    const result = readField(field, value, schema.style, reading);
    if (field.lenient) reading.lenient--;
    if (field.deprecated !== undefined) deprecatedField(written, field, reading);
    if (field.ignored !== undefined) ignoredField(written, field.ignored, reading);
    if (field.refused !== undefined) {
      reading.findings.push(placeOf([...reading.path]).error(`"${written}" is not supported: ${field.refused}`));
    }
    reading.path.pop();
    if (result === undefined) continue;
    set.set(name, written);
    if (result !== UNREADABLE) read[name] = result;
  }
  checkGroups(schema, set, read, reading);
  if (schema.style === 'crd') fillIn(schema, set, read, reading);
  for (const [name, field] of Object.entries(schema.fields)) {
    if (field.required !== true || set.has(name)) continue;
    reading.path.push(name);
    refused(reading, `is required: ${field.doc}`);
    reading.path.pop();
  }
  return Object.freeze(read);
}

/** Defaults of what is absent, as Kubernetes' API server fills them in. */
function fillIn(
  { fields }: Message,
  set: ReadonlyMap<string, string>,
  read: Record<string, unknown>,
  reading: Reading,
): void {
  for (const [name, { type, default: fallback, filled }] of Object.entries(fields)) {
    if (set.has(name)) continue;
    if (fallback !== undefined) read[name] = fallback;
    else if (filled && type.kind === 'message') read[name] = readMessage(type, {}, reading);
  }
}

/** The field that a key of a document names; undefined when there is none, and when its other spelling stands there too. */
function fieldName(schema: Message, written: string, raw: object): string | undefined {
  if (Object.hasOwn(schema.fields, written)) return written;
  if (schema.style !== 'proto' || !written.includes('_')) return undefined;
  const name = camelCase(written);
  return Object.hasOwn(schema.fields, name) && !Object.hasOwn(raw, name) ? name : undefined;
}

function unknownField(schema: Message, written: string, reading: Reading): void {
  if (schema.style === 'kubernetes') return;
  const place = placeOf([...reading.path, written]);
  const twice = schema.style === 'proto' ? camelCase(written) : '';
  const near = nearestName(written, Object.keys(schema.fields));
  const advice = Object.hasOwn(schema.fields, twice)
    ? `stands here as "${twice}", too, which wins: remove one of them`
    : near === undefined
      ? `is not a field of ${schema.file ?? schema.name}: remove it, or move it to where it belongs`
      : `is not a field of ${schema.file ?? schema.name}; did you mean "${near}"?`;
  reading.findings.push(place[reading.unknownField](`"${written}" ${advice}`, 'VM0001'));
}

function deprecatedField(written: string, { deprecated, deprecatedCode }: Field, reading: Reading): void {
  const place = placeOf([...reading.path]);
  const message = `"${written}" is deprecated: ${deprecated}`;
  reading.findings.push(place[reading.deprecatedField](message, deprecatedCode ?? 'IST0002'));
}

function ignoredField(written: string, why: string, reading: Reading): void {
  reading.findings.push(placeOf([...reading.path]).warning(`"${written}" has no effect here: ${why}`, 'VM0004'));
}

function checkGroups(
  schema: Message,
  set: ReadonlyMap<string, string>,
  read: Record<string, unknown>,
  reading: Reading,
): void {
  for (const group of Object.values(schema.oneofs)) {
    const present = group.filter((name) => set.has(name));
    const [, second] = present;
    if (second === undefined) continue;
    const place = placeOf([...reading.path, set.get(second) ?? second]);
    const rule = `${present.join(' and ')} exclude each other`;
    if (!reading.lastOfGroup) {
      reading.findings.push(place.error(`${rule}: keep the one that you mean`));
      continue;
    }
    reading.findings.push(place.warning(`${rule}; "${present.at(-1)}" counts: remove the others`));
    for (const name of present.slice(0, -1)) delete read[name];
  }
}

function outOfBounds(reading: Reading, message: string): void {
  const place = placeOf([...reading.path]);
  reading.findings.push(reading.lenient > 0 ? place.warning(message) : place.error(message));
}

function readField(field: Field, raw: unknown, style: Message['style'], reading: Reading): unknown {
  switch (field.shape) {
    case 'one':
      return readValue(field, raw, style, reading);
    case 'list':
      return readList(field, raw, style, reading);
    case 'map':
      return readMap(field, raw, style, reading);
  }
}

function readList(field: Field, raw: unknown, style: Message['style'], reading: Reading): unknown {
  if (!Array.isArray(raw))
    return refused(reading, `must be a list, not ${shownOf(field, raw)}: begin each element with "- "`);
  checkSize(field, raw.length, reading);
  if (raw.length === 0) return undefined;
  const items = raw.map((item: unknown, i) => {
    reading.path.push(i);
    const result = readValue(field, item, style, reading);
    reading.path.pop();
    return result;
  });
  return Object.freeze(items);
}

function readMap(field: Field, raw: unknown, style: Message['style'], reading: Reading): unknown {
  if (!isJsonObject(raw))
    return refused(reading, `must be a map, not ${shownOf(field, raw)}: write "name: value" pairs`);
  const entries = Object.entries(raw);
  checkSize(field, entries.length, reading);
  if (entries.length === 0 && field.emptyCounts !== true) return undefined;
  const pairs = entries.map(([key, value]) => {
    reading.path.push(key);
    if (field.keys === 'uint32' && !/^\d{1,9}$/.test(key)) refused(reading, `the key "${key}" must be a whole number`);
    const result = readValue(field, value, style, reading);
    reading.path.pop();
    return [key, result] as const;
  });
  return Object.freeze(Object.fromEntries(pairs));
}

function checkSize({ required, minItems, maxItems }: Field, size: number, reading: Reading): void {
  const absent = required === true && size === 0;
  if (minItems !== undefined && size < minItems && !absent) {
    outOfBounds(reading, `has ${size} elements, but needs at least ${minItems}`);
  }
  if (maxItems !== undefined && size > maxItems) {
    outOfBounds(reading, `has ${size} elements; at most ${maxItems} are allowed`);
  }
}

function shownOf({ secret }: Field, raw: unknown): string {
  return secret === true && typeof raw !== 'object' ? 'a single value' : shown(raw);
}

function secretProblem({ kind }: Scalar): string {
  return kind === 'bytes'
    ? 'must be bytes in base64: write plain text under stringData'
    : 'must be a text: put it in quotes';
}

function readValue(field: Field, raw: unknown, style: Message['style'], reading: Reading): unknown {
  const { type } = field;
  switch (type.kind) {
    case 'message':
      return readMessage(type, raw, reading);
    case 'enum':
      return readEnum(type, raw, style, reading);
    default: {
      const { value, unreadable, outOfBounds: wrong } = readScalar(type, raw, style === 'proto');
      if (unreadable !== undefined) return refused(reading, field.secret === true ? secretProblem(type) : unreadable);
      if (wrong !== undefined) outOfBounds(reading, wrong);
      return value;
    }
  }
}

function readEnum(type: Enum, raw: unknown, style: Message['style'], reading: Reading): unknown {
  if (typeof raw === 'string' && Object.hasOwn(type.values, raw)) return raw;
  const names = Object.keys(type.values);
  if (typeof raw === 'number' && style === 'proto') {
    const name = names.find((candidate) => type.values[candidate] === raw);
    if (name !== undefined) return name;
  }
  const near = typeof raw === 'string' ? nearestName(raw, names) : undefined;
  const advice = near === undefined ? '' : `; did you mean "${near}"?`;
  return refused(reading, `${shown(raw)} is not one of ${names.join(', ')}${advice}`);
}

/** The path in a raw value that `path` in its normalized form came from: the same but for the spelling of keys. */
export function writtenPath(raw: unknown, path: Path): Path {
  let value = raw;
  return path.map((step) => {
    const key = typeof step === 'string' && isJsonObject(value) ? writtenKey(value, step) : step;
    value = (value as Record<string | number, unknown> | null | undefined)?.[key];
    return key;
  });
}

function writtenKey(raw: object, name: string): string {
  if (Object.hasOwn(raw, name)) return name;
  return Object.keys(raw).find((written) => camelCase(written) === name) ?? name;
}
