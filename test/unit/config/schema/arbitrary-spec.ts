import fc from 'fast-check';
import type { Field, Message, Scalar, Type } from '../../../../src/config/schema/schema.ts';

/** Random texts of a scalar that has none of the bounds that a generator can not meet by itself. */
function scalarOf({ kind, min, max, minLength = 0, maxLength = 20, pattern }: Scalar): fc.Arbitrary<unknown> {
  switch (kind) {
    case 'string':
      // No pattern in use asks for more than lower-case hexadecimal digits, 64 of them at most.
      return pattern === undefined
        ? fc.string({ minLength, maxLength: Math.min(maxLength, 20) })
        : fc.constant('ab'.repeat(32).slice(0, pattern.includes('64') ? 64 : 8));
    case 'bool':
      return fc.boolean();
    case 'int32':
    case 'uint32':
    case 'int64':
    case 'uint64':
      return fc.integer({ min: min ?? 0, max: max ?? 100_000 });
    case 'double':
      return fc.integer({ min: min ?? 0, max: max ?? 100 });
    case 'duration':
      return fc.integer({ min: min ?? 0, max: Math.min(max ?? 100_000, 100_000) }).map((ms) => `${ms}ms`);
    case 'bytes':
      return fc.string().map((text) => Buffer.from(text).toString('base64'));
    case 'timestamp':
      return fc.constant('2026-01-02T03:04:05Z');
    case 'struct':
      return fc.dictionary(fc.string({ minLength: 1, maxLength: 5 }), fc.integer(), { noNullPrototype: true });
    case 'int-or-string':
      return fc.oneof(fc.integer({ min: 1, max: 65535 }), fc.constant('http'));
    case 'scalar-text':
      return fc.string();
  }
}

function valueOf(type: Type): fc.Arbitrary<unknown> {
  switch (type.kind) {
    case 'message':
      return specOf(type);
    case 'enum':
      return fc.constantFrom(...Object.keys(type.values));
    default:
      return scalarOf(type);
  }
}

function fieldOf({ shape, type, minItems = 1, maxItems = 2, keys }: Field): fc.Arbitrary<unknown> {
  const size = { minLength: minItems, maxLength: Math.max(minItems, Math.min(maxItems, 2)) };
  const key = keys === undefined ? fc.stringMatching(/^[a-z]{1,6}$/) : fc.integer({ min: 1, max: 65535 }).map(String);
  switch (shape) {
    case 'one':
      return valueOf(type);
    case 'list':
      return fc.array(valueOf(type), size);
    case 'map':
      return fc.dictionary(key, valueOf(type), {
        minKeys: size.minLength,
        maxKeys: size.maxLength,
        noNullPrototype: true,
      });
  }
}

/** A spec that its schema allows: required fields, some of the others, and one of each group. */
export function specOf(message: Message): fc.Arbitrary<object> {
  const fields = Object.entries(message.fields);
  const required = fields.filter(([, field]) => field.required).map(([name]) => name);
  const optional = fields.map(([name]) => name).filter((name) => !required.includes(name));
  return fc.subarray(optional, { maxLength: Math.min(optional.length, 4) }).chain((some) => {
    const grouped = new Set<string>();
    const chosen = [...required, ...some].filter((name) => {
      const group = message.fields[name]?.oneof;
      if (group === undefined) return true;
      const first = !grouped.has(group);
      grouped.add(group);
      return first;
    });
    return fc.record(Object.fromEntries(chosen.map((name) => [name, fieldOf(message.fields[name] as Field)])), {
      noNullPrototype: true,
    });
  });
}

/** A value that no type has at once: what is right for one shape or type is wrong for the others. */
const WRONG: readonly unknown[] = [[], {}, true, 7.5, 'no such value', [[1]]];

/** The spec with one of its fields, at any depth, set to a value of a wrong type; undefined when it has none. */
export function damaged(message: Message, spec: object): fc.Arbitrary<object | undefined> {
  const names = Object.keys(spec);
  if (names.length === 0) return fc.constant(undefined);
  return fc.constantFrom(...names).chain((name) => {
    const field = message.fields[name] as Field;
    const value = (spec as Record<string, unknown>)[name];
    const here = fc.constantFrom(...WRONG).map((wrong) => ({ ...spec, [name]: wrong }));
    if (field.type.kind !== 'message' || field.shape !== 'one') return here;
    return fc.oneof(
      here,
      damaged(field.type, value as object).map((inner) =>
        inner === undefined ? undefined : { ...spec, [name]: inner },
      ),
    );
  });
}
