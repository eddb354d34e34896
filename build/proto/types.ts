import type { EnumModel, FieldModel, MessageModel, Model, Scalar } from './model.ts';

const SCALARS: Readonly<Record<Scalar, string>> = {
  double: 'number',
  float: 'number',
  int32: 'number',
  uint32: 'number',
  sint32: 'number',
  fixed32: 'number',
  sfixed32: 'number',
  int64: 'number | string',
  uint64: 'number | string',
  sint64: 'number | string',
  fixed64: 'number | string',
  sfixed64: 'number | string',
  bool: 'boolean',
  string: 'string',
  bytes: 'string | Uint8Array',
};

/** The messages that proto JSON writes in their own way. */
const WELL_KNOWN: Readonly<Record<string, string>> = {
  'google.protobuf.Any': "{ readonly '@type': string; readonly [key: string]: unknown }",
  'google.protobuf.BoolValue': SCALARS.bool,
  'google.protobuf.BytesValue': SCALARS.bytes,
  'google.protobuf.DoubleValue': SCALARS.double,
  'google.protobuf.Duration': 'string',
  'google.protobuf.FloatValue': SCALARS.float,
  'google.protobuf.Int32Value': SCALARS.int32,
  'google.protobuf.Int64Value': SCALARS.int64,
  'google.protobuf.ListValue': 'readonly JsonValue[]',
  'google.protobuf.StringValue': SCALARS.string,
  'google.protobuf.Struct': 'JsonObject',
  'google.protobuf.Timestamp': 'string',
  'google.protobuf.UInt32Value': SCALARS.uint32,
  'google.protobuf.UInt64Value': SCALARS.uint64,
  'google.protobuf.Value': 'JsonValue',
};

const HEADER = `// Generated from the protos by build/proto. Every message in proto JSON; all that is absent has its default.
import type { JsonObject, JsonValue } from '../../src/base/json.ts';
`;

interface Namespace {
  readonly children: Map<string, Namespace>;
  readonly declarations: string[];
}

/** A module of types only: a namespace per package, an interface per message, a union of names per enum. */
export function typesModule({ messages, enums }: Model): string {
  const root: Namespace = { children: new Map(), declarations: [] };
  for (const { name, values } of enums) {
    declare(root, name, (local) => {
      const union = values.map(([value]) => `'${value}'`).join(' | ');
      return `type ${local} = ${name === 'google.protobuf.NullValue' ? 'null' : union};`;
    });
  }
  for (const message of messages) declare(root, message.name, (local) => messageType(local, message));
  const namespaces = [...root.children].map(([name, child]) => `export declare ${namespaceText(name, child, '')}`);
  const names = messages.map(({ name }) => `  readonly '${name}': ${name};\n`).join('');
  return `${HEADER}\n${namespaces.join('\n')}\n/** Every message by its full name. */\nexport interface MessageTypes {\n${names}}\n`;
}

function declare(root: Namespace, fullName: string, declaration: (local: string) => string): void {
  const path = fullName.split('.');
  const local = path.pop() as string;
  let namespace = root;
  for (const part of path) {
    let child = namespace.children.get(part);
    if (child === undefined) {
      child = { children: new Map(), declarations: [] };
      namespace.children.set(part, child);
    }
    namespace = child;
  }
  namespace.declarations.push(declaration(local));
}

function namespaceText(name: string, { children, declarations }: Namespace, indent: string): string {
  const inner = `${indent}  `;
  const parts = [
    ...declarations.map((text) => `${inner}export ${text.replaceAll('\n', `\n${inner}`)}\n`),
    ...[...children].map(([childName, child]) => `${inner}export ${namespaceText(childName, child, inner)}`),
  ];
  return `namespace ${name} {\n${parts.join('')}${indent}}\n`;
}

function messageType(local: string, { name, fields }: MessageModel): string {
  const wellKnown = WELL_KNOWN[name];
  if (wellKnown !== undefined) return `type ${local} = ${wellKnown};`;
  const lines = fields.map((field) => `  readonly ${field.jsonName}?: ${fieldType(field, name)} | undefined;\n`);
  return `interface ${local} {\n${lines.join('')}}`;
}

function fieldType({ shape, type }: FieldModel, owner: string): string {
  const single = typeof type === 'string' ? SCALARS[type] : reference(type, owner);
  if (shape === 'single') return single;
  if (shape === 'map') return `{ readonly [key: string]: ${single} }`;
  return `readonly ${single.includes(' ') ? `(${single})` : single}[]`;
}

/** The full name, which means the same everywhere unless a namespace on the way has the name of its first part. */
function reference({ name }: EnumModel | MessageModel, owner: string): string {
  const first = name.slice(0, name.indexOf('.'));
  if (owner.split('.').slice(1, -1).includes(first)) throw new Error(`${name} is hidden by a namespace of ${owner}`);
  return name;
}
