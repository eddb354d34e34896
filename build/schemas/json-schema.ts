import { kindName } from '../../src/config/config.ts';
import type { KindDefinition } from '../../src/config/kind.ts';
import type { Field, Message, Scalar, Type } from '../../src/config/schema/schema.ts';

/** A JSON Schema (draft 7, which every editor knows). */
export type JsonSchema = { readonly [keyword: string]: unknown };

const DRAFT = 'http://json-schema.org/draft-07/schema#';

/** Go's notation, as src/base/duration.ts reads it. */
const DURATION = '^[-+]?(?:0|(?:(?:[0-9]+\\.?[0-9]*|\\.[0-9]+)(?:ns|us|µs|μs|ms|s|m|h))+)$';

const WIDE_INTEGER: JsonSchema = { type: ['integer', 'string'], pattern: '^-?[0-9]+$' };

const SCALARS: Readonly<Record<Scalar['kind'], JsonSchema>> = {
  string: { type: 'string' },
  bool: { type: 'boolean' },
  int32: { type: 'integer', minimum: -(2 ** 31), maximum: 2 ** 31 - 1 },
  uint32: { type: 'integer', minimum: 0, maximum: 2 ** 32 - 1 },
  int64: WIDE_INTEGER,
  uint64: { ...WIDE_INTEGER, pattern: '^[0-9]+$', minimum: 0 },
  double: { type: 'number' },
  duration: { type: 'string', pattern: DURATION },
  bytes: { type: 'string', pattern: '^[A-Za-z0-9+/\\r\\n]*={0,2}[\\r\\n]*$' },
  struct: { type: 'object' },
  'int-or-string': { type: ['integer', 'string'] },
  'scalar-text': { type: ['string', 'number', 'boolean'] },
};

function scalarSchema(type: Scalar): JsonSchema {
  const { kind, min, max, minLength, maxLength, pattern } = type;
  return {
    ...SCALARS[kind],
    // Bounds of a duration are not those of a number.
    ...(kind !== 'duration' && min !== undefined && { minimum: min }),
    ...(kind !== 'duration' && max !== undefined && { maximum: max }),
    ...(minLength !== undefined && { minLength }),
    ...(maxLength !== undefined && { maxLength }),
    ...(pattern !== undefined && { pattern }),
  };
}

function typeSchema(type: Type): JsonSchema {
  switch (type.kind) {
    case 'message':
      return { $ref: `#/definitions/${type.name}` };
    case 'enum':
      return { enum: Object.keys(type.values) };
    default:
      return scalarSchema(type);
  }
}

function shapeSchema({ shape, type, minItems, maxItems, keys, required }: Field): JsonSchema {
  const least = minItems ?? (required === true ? 1 : undefined);
  switch (shape) {
    case 'one':
      return typeSchema(type);
    case 'list':
      return {
        type: 'array',
        items: typeSchema(type),
        ...(least !== undefined && { minItems: least }),
        ...(maxItems !== undefined && { maxItems }),
      };
    case 'map':
      return {
        type: 'object',
        additionalProperties: typeSchema(type),
        ...(least !== undefined && { minProperties: least }),
        ...(maxItems !== undefined && { maxProperties: maxItems }),
        ...(keys !== undefined && { propertyNames: { pattern: '^[0-9]{1,9}$' } }),
      };
  }
}

function fieldSchema(field: Field): JsonSchema {
  const { deprecated, ignored, default: fallback } = field;
  const description = [
    field.doc,
    ...(deprecated === undefined ? [] : [`Deprecated: ${deprecated}`]),
    ...(ignored === undefined ? [] : [`No effect here: ${ignored}.`]),
  ].join(' ');
  const notes = {
    description,
    ...(deprecated !== undefined && { deprecated: true }),
    ...(fallback !== undefined && { default: fallback }),
  };
  const schema = shapeSchema(field);
  // In draft 7 nothing beside a $ref counts.
  return '$ref' in schema ? { ...notes, allOf: [schema] } : { ...notes, ...schema };
}

function messageSchema({ doc, fields, oneofs, style }: Message): JsonSchema {
  const required = Object.keys(fields).filter((name) => fields[name]?.required);
  const pairs = Object.values(oneofs).flatMap((group) =>
    group.flatMap((name, i) => group.slice(i + 1).map((other) => ({ not: { required: [name, other] } }))),
  );
  return {
    description: doc,
    type: 'object',
    properties: Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, fieldSchema(field)])),
    ...(required.length > 0 && { required }),
    ...(pairs.length > 0 && { allOf: pairs }),
    ...(style !== 'kubernetes' && { additionalProperties: false }),
  };
}

/** The message and all that it refers to, by name. */
function definitionsOf(message: Message, found: Record<string, JsonSchema> = {}): Record<string, JsonSchema> {
  if (Object.hasOwn(found, message.name)) return found;
  found[message.name] = messageSchema(message);
  for (const { type } of Object.values(message.fields)) if (type.kind === 'message') definitionsOf(type, found);
  return found;
}

function kindDefinitions({ schema, status }: KindDefinition, found: Record<string, JsonSchema> = {}): typeof found {
  if (status !== undefined) definitionsOf(status, found);
  return definitionsOf(schema, found);
}

const TEXTS: JsonSchema = { type: 'object', additionalProperties: { type: 'string' } };

function objectSchema(kind: KindDefinition): JsonSchema {
  const { schema, specField, scope, status } = kind;
  const spec = { $ref: `#/definitions/${schema.name}` };
  const properties = {
    apiVersion: { enum: apiVersions(kind) },
    kind: { const: kind.kind },
    metadata: {
      type: 'object',
      properties: {
        name: { type: 'string', description: 'Name of the object.' },
        ...(scope === 'Namespaced' && {
          namespace: { type: 'string', description: 'Its namespace. Default: as the folder that the file is in.' },
        }),
        labels: { ...TEXTS, description: 'Labels, by which others select it.' },
        annotations: { ...TEXTS, description: 'Further notes.' },
      },
      required: ['name'],
    },
    ...(specField === 'spec' && { spec }),
    ...(status !== undefined && { status: { $ref: `#/definitions/${status.name}` } }),
  };
  const envelope = {
    description: schema.doc,
    type: 'object',
    properties,
    required: ['apiVersion', 'kind', 'metadata'],
  };
  return specField === 'spec' ? envelope : { ...envelope, allOf: [spec] };
}

function apiVersions({ group, versions }: KindDefinition): readonly string[] {
  return versions.map((version) => (group === '' ? version : `${group}/${version}`));
}

/** The schema of the documents of one kind. */
export function kindSchema(kind: KindDefinition): JsonSchema {
  return { $schema: DRAFT, title: kind.kind, ...objectSchema(kind), definitions: kindDefinitions(kind) };
}

/** The schema of a file that is one message. */
export function fileSchema(title: string, message: Message): JsonSchema {
  const { [message.name]: root, ...definitions } = definitionsOf(message);
  return { $schema: DRAFT, title, ...root, definitions };
}

/** One schema for documents of every kind; those of unknown kinds are not looked at. */
export function anyKindSchema(kinds: readonly KindDefinition[]): JsonSchema {
  const definitions: Record<string, JsonSchema> = {};
  const branches = kinds.map((kind) => {
    kindDefinitions(kind, definitions);
    const { kind: name } = kind;
    const document = `document:${kindName(kind)}`;
    definitions[document] = objectSchema(kind);
    return {
      if: {
        properties: { kind: { const: name }, apiVersion: { enum: apiVersions(kind) } },
        required: ['kind', 'apiVersion'],
      },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { $ref: `#/definitions/${document}` },
    };
  });
  return { $schema: DRAFT, title: 'A document of a mesh', type: 'object', allOf: branches, definitions };
}
