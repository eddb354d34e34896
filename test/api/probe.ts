import type { Path } from '../../src/config/finding.ts';
import type { KindDefinition } from '../../src/config/kind.ts';
import { validateSpec } from '../../src/config/kind.ts';
import type { Field, Message, Type } from '../../src/config/schema/schema.ts';

/** A place where a field can be set, with all fields on the way: `['HTTPRoute.retries', 'HTTPRetry.attempts']`. */
export interface Place {
  readonly path: Path;
  readonly fields: readonly string[];
  readonly field: Field;
}

/** No deeper: messages that hold themselves have no end. */
const DEEPEST = 12;

/**
 * All places of a message where a field can be set. In lists and maps of a value that has some, each element is one; where
 * it has none, the first that could be there.
 */
export function* places(
  message: Message,
  value: unknown,
  path: Path = [],
  fields: readonly string[] = [],
): Generator<Place> {
  if (path.length > DEEPEST) return;
  for (const [name, field] of Object.entries(message.fields)) {
    const here = [...fields, `${message.name}.${name}`];
    const own = [...path, name];
    yield { path: own, fields: here, field };
    if (field.type.kind !== 'message' || fields.filter((one) => one === here.at(-1)).length > 0) continue;
    const part = (value as Readonly<Record<string, unknown>> | undefined)?.[name];
    for (const key of keysOf(field, part)) {
      const item = key === undefined ? part : (part as Readonly<Record<string | number, unknown>> | undefined)?.[key];
      yield* places(field.type, item, key === undefined ? own : [...own, key], here);
    }
  }
}

function keysOf({ shape }: Field, part: unknown): readonly (string | number | undefined)[] {
  if (shape === 'one') return [undefined];
  if (shape === 'list') return Array.isArray(part) && part.length > 0 ? [...part.keys()] : [0];
  const keys = Object.keys((part as object | undefined) ?? {});
  return keys.length > 0 ? keys : ['probe'];
}

/** Values of a type that differ from each other and from what it has by default. */
export function samples(type: Type): readonly unknown[] {
  switch (type.kind) {
    case 'message':
      return [minimal(type)];
    case 'enum':
      return Object.keys(type.values);
    case 'bool':
      return [true, false];
    case 'duration':
      return ['17s', '3s'];
    case 'bytes':
      return ['cHJvYmU='];
    case 'struct':
      return [{ probe: 'x' }];
    case 'int-or-string':
      return [17];
    case 'scalar-text':
    case 'string':
      return ['probe', 'probe.test', '10.7.7.7', '/probe'];
    default:
      return [Math.max(type.min ?? 0, Math.min(type.max ?? 17, 17)), type.min ?? 3, 80];
  }
}

/** The message with what it can not be without. */
function minimal(message: Message): object {
  const required = Object.entries(message.fields).filter(([, { required: isRequired }]) => isRequired === true);
  return Object.fromEntries(required.map(([name, field]) => [name, shaped(field, samples(field.type)[0])]));
}

export function shaped({ shape }: Pick<Field, 'shape'>, value: unknown): unknown {
  return shape === 'list' ? [value] : shape === 'map' ? { probe: value } : value;
}

/** A copy with a value at a path; of a group of which one may be set the others are taken away, what is missing is filled in. */
export function withValue(message: Message, value: unknown, path: Path, to: unknown): object {
  const [name, ...rest] = path as readonly [string, ...Path];
  const field = message.fields[name];
  if (field === undefined) throw new Error(`${message.name} has no ${name}`);
  const base = { ...minimal(message), ...(value as Readonly<Record<string, unknown>> | undefined) };
  const group = field.oneof === undefined ? [] : (message.oneofs[field.oneof] ?? []);
  const kept = Object.fromEntries(Object.entries(base).filter(([key]) => key === name || !group.includes(key)));
  return { ...kept, [name]: rest.length === 0 ? to : within(field, kept[name], rest, to) };
}

function within(field: Field, value: unknown, path: Path, to: unknown): unknown {
  const inner = field.type as Message;
  if (field.shape === 'one') return withValue(inner, value, path, to);
  const [key, ...rest] = path;
  if (field.shape === 'map') {
    const own = (value ?? {}) as Readonly<Record<string, unknown>>;
    return { ...own, [String(key)]: withValue(inner, own[String(key)], rest, to) };
  }
  const items = Array.isArray(value) && value.length > 0 ? value : [undefined];
  return items.map((item, i) => (i === key ? withValue(inner, item, rest, to) : item));
}

/** The spec as it is taken; undefined when it is refused. */
export function taken(kind: KindDefinition, spec: unknown, name: string, namespace: string): unknown {
  return validateSpec(kind, spec, { name, namespace, labels: {}, annotations: {} }, { strict: false }).spec;
}
