import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { loadAll } from 'js-yaml';
import { KINDS } from '../../../../src/config/kinds/kinds.ts';
import type { Field, Scalar, Type } from '../../../../src/config/schema/schema.ts';

const SCHEMAS = new URL('../../../../../shared/schemas/', import.meta.url);

interface OpenApi {
  readonly type?: string;
  readonly format?: string;
  readonly properties?: Readonly<Record<string, OpenApi>>;
  readonly items?: OpenApi;
  readonly additionalProperties?: OpenApi;
  readonly enum?: readonly string[];
  readonly required?: readonly string[];
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-validations'?: readonly { readonly rule: string }[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minProperties?: number;
  readonly maxProperties?: number;
}

interface Crd {
  readonly spec: {
    readonly group: string;
    readonly names: { readonly kind: string; readonly plural: string };
    readonly scope: string;
    readonly versions: readonly {
      readonly name: string;
      readonly schema: { readonly openAPIV3Schema: { readonly properties: { readonly spec: OpenApi } } };
    }[];
  };
}

/** Second spellings of fields that the CRDs list as fields of their own; the reader understands them everywhere. */
const SECOND_SPELLINGS: ReadonlySet<string> = new Set(['jwks_uri', 'mirror_percent']);

const SCALARS: Readonly<Record<Scalar['kind'], readonly string[]>> = {
  string: ['string'],
  bool: ['boolean'],
  int32: ['integer'],
  uint32: ['integer'],
  int64: ['integer', 'int-or-string'],
  uint64: ['integer', 'int-or-string'],
  double: ['number'],
  duration: ['string'],
  bytes: ['string'],
  struct: ['object'],
  'int-or-string': ['int-or-string'],
  'scalar-text': [],
};

/** Bounds of theirs that are tighter than ours. */
function* boundDifferences(type: Scalar, schema: OpenApi, path: string): Generator<string> {
  const { min = type.kind.startsWith('uint') ? 0 : -Infinity, max = type.kind === 'uint32' ? 2 ** 32 - 1 : Infinity } =
    type;
  if ((schema.minimum ?? -Infinity) > min) yield `${path}: minimum ${schema.minimum}, ours ${min}`;
  if ((schema.maximum ?? Infinity) < max) yield `${path}: maximum ${schema.maximum}, ours ${max}`;
  for (const name of ['minLength', 'maxLength', 'pattern'] as const) {
    if (schema[name] !== undefined && schema[name] !== type[name])
      yield `${path}: ${name} ${schema[name]}, ours ${type[name]}`;
  }
  const rules = (schema['x-kubernetes-validations'] ?? []).map(({ rule }) => rule).join();
  if (rules.includes("duration('1ms')") !== (type.kind === 'duration' && min === 1)) yield `${path}: least duration`;
  if (rules.includes('0 < self') && min !== 1) yield `${path}: least port`;
}

function openApiType(schema: OpenApi): string {
  return schema['x-kubernetes-int-or-string'] === true ? 'int-or-string' : (schema.type ?? 'none');
}

function* typeDifferences(type: Type, schema: OpenApi, path: string): Generator<string> {
  if (type.kind === 'message') {
    const ours = Object.keys(type.fields);
    const theirs = Object.keys(schema.properties ?? {}).filter((name) => !SECOND_SPELLINGS.has(name));
    for (const name of theirs) if (!ours.includes(name)) yield `${path}.${name} is missing`;
    for (const name of ours) if (!theirs.includes(name)) yield `${path}.${name} is invented`;
    for (const [name, field] of Object.entries(type.fields)) {
      const theirField = schema.properties?.[name];
      if (theirField !== undefined) yield* fieldDifferences(field, theirField, `${path}.${name}`);
    }
    for (const name of schema.required ?? []) {
      if (type.fields[name]?.required !== true) yield `${path}.${name} is not required by us`;
    }
  } else if (type.kind === 'enum') {
    const ours = Object.keys(type.values).sort();
    const theirs = [...(schema.enum ?? [])].sort();
    if (ours.join() !== theirs.join()) yield `${path}: ours ${ours.join()}, theirs ${theirs.join()}`;
  } else if (!SCALARS[type.kind].includes(openApiType(schema))) {
    yield `${path}: ours ${type.kind}, theirs ${openApiType(schema)}`;
  } else {
    yield* boundDifferences(type, schema, path);
  }
}

function* sizeDifferences({ minItems, maxItems }: Field, schema: OpenApi, path: string): Generator<string> {
  const least = schema.minItems ?? schema.minProperties;
  const most = schema.maxItems ?? schema.maxProperties;
  if (least !== undefined && least !== minItems) yield `${path}: at least ${least}, ours ${minItems}`;
  if (most !== undefined && most !== maxItems) yield `${path}: at most ${most}, ours ${maxItems}`;
}

function* fieldDifferences(field: Field, schema: OpenApi, path: string): Generator<string> {
  const { shape, type } = field;
  if (shape !== 'one') yield* sizeDifferences(field, schema, path);
  switch (shape) {
    case 'one':
      return yield* typeDifferences(type, schema, path);
    case 'list':
      if (schema.items === undefined) yield `${path} is no list there`;
      else yield* typeDifferences(type, schema.items, `${path}[]`);
      return;
    case 'map':
      if (schema.additionalProperties === undefined) yield `${path} is no map there`;
      else yield* typeDifferences(type, schema.additionalProperties, `${path}{}`);
  }
}

function crdsOf(file: string): readonly Crd[] {
  const url = new URL(file, SCHEMAS);
  if (!existsSync(url)) return [];
  const documents = loadAll(readFileSync(url, 'utf8')) as ((Crd & { readonly kind: string }) | null)[];
  return documents.filter((document) => document?.kind === 'CustomResourceDefinition') as Crd[];
}

const crds = crdsOf('istio-crds.yaml');

test('every kind of Istio is read, in all its versions', { skip: crds.length === 0 }, () => {
  const described = (kind: string) => {
    const found = KINDS.find((definition) => definition.kind === kind);
    return found && [found.group, found.plural, found.scope, [...found.versions].sort()];
  };
  for (const { spec } of crds) {
    const versions = spec.versions.map(({ name }) => name).sort();
    assert.deepEqual(described(spec.names.kind), [spec.group, spec.names.plural, spec.scope, versions]);
  }
});

for (const { spec } of crds) {
  const kind = KINDS.find((definition) => definition.kind === spec.names.kind);
  test(`${spec.names.kind} has the fields, types, enums and bounds of Istio's own definition`, () => {
    assert.ok(kind);
    for (const { name, schema } of spec.versions) {
      assert.deepEqual([...typeDifferences(kind.schema, schema.openAPIV3Schema.properties.spec, name)], []);
    }
  });
}

/** Of the Gateway API what istiod reads; the newest version is the one to write, older ones allow more. */
const UNREAD: ReadonlySet<string> = new Set(['UDPRoute', 'XBackend', 'XBackendTrafficPolicy', 'XMesh']);

/** Where an older version allows more, so that we do. */
const WIDER: readonly string[] = [
  'TCPRoute.rules: at most 1, ours 16',
  'TLSRoute.hostnames is not required by us',
  'TLSRoute.hostnames: at least 1, ours undefined',
  'TLSRoute.rules: at most 1, ours 16',
];

const gatewayApi = crdsOf('gateway-api-crds.yaml').filter(({ spec }) => !UNREAD.has(spec.names.kind));

test('kinds of the Gateway API have the fields, types, enums and bounds of its own definition', {
  skip: gatewayApi.length === 0,
}, () => {
  const differing = gatewayApi.flatMap(({ spec: { group, names, scope, versions } }) => {
    const kind = KINDS.find((definition) => definition.kind === names.kind && definition.group === group);
    assert.ok(kind, names.kind);
    assert.deepEqual([kind.plural, kind.scope], [names.plural, scope]);
    assert.deepEqual([...kind.versions].sort(), versions.map(({ name }) => name).sort());
    const [newest] = versions;
    assert.ok(newest);
    return [...typeDifferences(kind.schema, newest.schema.openAPIV3Schema.properties.spec, names.kind)];
  });
  assert.deepEqual(differing.sort(), WIDER);
});
