import type { Field, Message, Scalar, Type } from '../../../../src/config/schema/schema.ts';

/** A number from 0 up to, but without, 1. */
export type Random = () => number;

/** The same numbers for the same seed (Park and Miller). */
export function randomFrom(seed: number): Random {
  let state = (Math.abs(seed) % 2147483646) + 1;
  return () => {
    state = (state * 48271) % 2147483647;
    return (state - 1) / 2147483646;
  };
}

function integer(random: Random, min: number, max: number): number {
  return min + Math.floor(random() * (max - min + 1));
}

function pick<T>(random: Random, values: readonly T[]): T {
  return values[integer(random, 0, values.length - 1)] as T;
}

function text(random: Random, minLength: number, maxLength: number): string {
  const letters = 'abcXYZ019 -_./*{}%"\\é😀';
  return Array.from({ length: integer(random, minLength, maxLength) }, () =>
    letters.charAt(integer(random, 0, 20)),
  ).join('');
}

/** Of each pattern in use some text matches. */
const PATTERN_TEXTS = ['abababab', 'ab'.repeat(32), '1h30m', 'a.b/c', 'https://a.b', 'spiffe://a/b', 'System'];

/** A value of a scalar, within its bounds. */
function scalar({ kind, min, max, minLength = 0, maxLength = 20, pattern }: Scalar, random: Random): unknown {
  switch (kind) {
    case 'string':
      return pattern === undefined
        ? text(random, minLength, Math.min(maxLength, 20))
        : PATTERN_TEXTS.find((candidate) => new RegExp(pattern, 'u').test(candidate));
    case 'bool':
      return random() < 0.5;
    case 'int32':
    case 'uint32':
    case 'int64':
    case 'uint64':
      return integer(random, min ?? 0, max ?? 100_000);
    case 'double':
      return integer(random, min ?? 0, max ?? 100);
    case 'duration':
      return `${integer(random, min ?? 0, Math.min(max ?? 100_000, 100_000))}ms`;
    case 'bytes':
      return Buffer.from(text(random, 0, 9)).toString('base64');
    case 'struct':
      return { [text(random, 1, 5)]: integer(random, -9, 9) };
    case 'int-or-string':
      return random() < 0.5 ? integer(random, 1, 65535) : 'http';
    case 'scalar-text':
      return text(random, 0, 9);
  }
}

function value(type: Type, random: Random): unknown {
  switch (type.kind) {
    case 'message':
      return specFrom(type, random);
    case 'enum':
      return pick(random, Object.keys(type.values));
    default:
      return scalar(type, random);
  }
}

function fieldValue({ shape, type, minItems = 1, maxItems = 2, keys }: Field, random: Random): unknown {
  if (shape === 'one') return value(type, random);
  const size = integer(random, minItems, Math.max(minItems, Math.min(maxItems, 2)));
  const items = Array.from({ length: size }, () => value(type, random));
  if (shape === 'list') return items;
  return Object.fromEntries(items.map((item, i) => [keys === undefined ? `key-${i}` : String(8080 + i), item]));
}

/** A spec that its schema allows: required fields, some of the others, and at most one of each group. */
export function specFrom(message: Message, random: Random): object {
  const fields = Object.entries(message.fields);
  const share = Math.min(1, 4 / fields.length);
  const groups = new Set<string>();
  const chosen = fields.filter(([, { required, refused, oneof }]) => {
    if (refused !== undefined) return false;
    if (required !== true && random() >= share) return false;
    if (oneof !== undefined && groups.has(oneof)) return false;
    if (oneof !== undefined) groups.add(oneof);
    return true;
  });
  return Object.fromEntries(chosen.map(([name, field]) => [name, fieldValue(field, random)]));
}

/** Values that no type has at once: what is right for one shape or type is wrong for the others. */
const WRONG: readonly unknown[] = [[], {}, true, 7.5, 'no such value', [[1]]];

/** The spec with one of its fields, at any depth, set to a value that is likely wrong. */
export function damaged(message: Message, spec: object, random: Random): object {
  const entries = Object.entries(spec);
  if (entries.length === 0) return spec;
  const [name, current] = pick(random, entries);
  const { type, shape } = message.fields[name] as Field;
  const inside = type.kind === 'message' && shape === 'one' && random() < 0.6;
  return { ...spec, [name]: inside ? damaged(type, current as object, random) : pick(random, WRONG) };
}

/** What of a value stands in a spec: defaults that were filled in are left out. */
export function withoutDefaults(value: unknown, spec: unknown): unknown {
  if (Array.isArray(value) && Array.isArray(spec)) return value.map((item, i) => withoutDefaults(item, spec[i]));
  if (typeof value !== 'object' || typeof spec !== 'object' || value === null || spec === null) return value;
  const written = spec as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => Object.hasOwn(written, name))
      .map(([name, field]) => [name, withoutDefaults(field, written[name])]),
  );
}
