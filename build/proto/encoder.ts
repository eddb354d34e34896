import type { EnumModel, FieldModel, MessageModel, Model, Scalar } from './model.ts';

const HEADER = `// Generated from the protos by build/proto. Fields are written last to first, see src/proto/writer.ts.
import { keyCount, sortedKeys } from '../../src/proto/scalars.ts';
import type { MessageEncoder, Writer } from '../../src/proto/writer.ts';
import {
  writeAny,
  writeDuration,
  writeListValue,
  writeStruct,
  writeTimestamp,
  writeValue,
} from '../../src/proto/write-well-known.ts';

// What a message holds is checked while it is written.
type Message = any;
`;

/** Messages whose proto JSON is no object of their fields, and the function that writes them. */
const BY_HAND: Readonly<Record<string, string>> = {
  'google.protobuf.Any': 'writeAny',
  'google.protobuf.Duration': 'writeDuration',
  'google.protobuf.ListValue': 'writeListValue',
  'google.protobuf.Struct': 'writeStruct',
  'google.protobuf.Timestamp': 'writeTimestamp',
  'google.protobuf.Value': 'writeValue',
};

const WRAPPERS: Readonly<Record<string, Scalar>> = {
  'google.protobuf.BoolValue': 'bool',
  'google.protobuf.BytesValue': 'bytes',
  'google.protobuf.DoubleValue': 'double',
  'google.protobuf.FloatValue': 'float',
  'google.protobuf.Int32Value': 'int32',
  'google.protobuf.Int64Value': 'int64',
  'google.protobuf.StringValue': 'string',
  'google.protobuf.UInt32Value': 'uint32',
  'google.protobuf.UInt64Value': 'uint64',
};

const WIRE_TYPES: Readonly<Record<Scalar, number>> = {
  double: 1,
  float: 5,
  int32: 0,
  uint32: 0,
  sint32: 0,
  fixed32: 5,
  sfixed32: 5,
  int64: 0,
  uint64: 0,
  sint64: 0,
  fixed64: 1,
  sfixed64: 1,
  bool: 0,
  string: 2,
  bytes: 2,
};

const NULLABLE: ReadonlySet<string> = new Set(['google.protobuf.NullValue', 'google.protobuf.Value']);

const identifier = (name: string): string => name.replaceAll('.', '_');

/** A function per message, and a map of them by full name. */
export function encoderModule({ messages, enums }: Model): string {
  const used = new Set(messages.flatMap(({ fields }) => fields.map(({ type }) => type)));
  const tables = enums
    .filter((type) => used.has(type) && !NULLABLE.has(type.name))
    .map(({ name, values }) => {
      const entries = values.map(([key, number]) => `${key}: ${number}`).join(', ');
      return `const ${identifier(name)}: EnumTable = { __proto__: null, ${entries} };\n`;
    });
  const functions = messages.map(messageFunction);
  const entries = messages.map(({ name }) => {
    const wellKnown = name in BY_HAND || name in WRAPPERS;
    return `  ['${name}', { write: ${functionOf(name)}, wellKnown: ${wellKnown} }],\n`;
  });
  return [
    HEADER,
    'type EnumTable = Readonly<Record<string, number | null>>;\n',
    tables.join(''),
    functions.join('\n'),
    `/** Every message by its full name. */\nexport const ENCODERS: ReadonlyMap<string, MessageEncoder> = new Map([\n${entries.join('')}]);\n`,
  ].join('\n');
}

const functionOf = (name: string): string => BY_HAND[name] ?? identifier(name);

function messageFunction({ name, fields, oneofs }: MessageModel): string {
  if (name in BY_HAND) return '';
  const wrapped = WRAPPERS[name];
  const parameters = 'w: Writer, m: Message, n: number';
  if (wrapped !== undefined) {
    return `function ${identifier(name)}(w: Writer, m: Message): void {\n  ${implicit(wrapped, 1, 'm')}\n}\n`;
  }
  const counters = oneofs.map((_, index) => `  let o${index} = 0;\n`).join('');
  const checks = oneofs.map((_, index) => `  if (o${index} > 1) w.refuse('several fields of one oneof');\n`).join('');
  const variables = fields.length === 0 ? '' : '  let v: Message;\n';
  const body = fields.toReversed().map(fieldStatement).join('');
  const scope = body.includes(' s = ') ? '  let s = 0;\n' : '';
  return `function ${identifier(name)}(${parameters}): void {\n${variables}${scope}${counters}${body}${checks}  if (n !== keyCount(m)) w.check(m, n);\n}\n`;
}

const tag = (number: number, wireType: number): number => ((number << 3) | wireType) >>> 0;

const wireType = (type: FieldModel['type']): number =>
  typeof type === 'string' ? WIRE_TYPES[type] : type.kind === 'enum' ? 0 : 2;

function fieldStatement(field: FieldModel): string {
  const { number, jsonName, type, shape, oneof } = field;
  // Of these null is a value.
  const nullable = shape === 'single' && typeof type !== 'string' && NULLABLE.has(type.name);
  const found = oneof === undefined ? 'n++;' : `n++; o${oneof}++;`;
  const value = shape === 'single' ? single(field) : shape === 'map' ? map(field) : repeated(field);
  const condition = nullable ? '!== undefined' : '!= null';
  return `  if ((v = m.${jsonName}) ${condition}) { ${found} ${value} } // ${number}\n`;
}

function single({ number, type, presence }: FieldModel): string {
  return presence ? element(type, number, 'v') : implicit(type, number, 'v');
}

/** A value of a field without presence: not written when it is the default. */
function implicit(type: FieldModel['type'], number: number, value: string): string {
  return `if (${isSet(type, value)}) { ${element(type, number, value)} }`;
}

function isSet(type: FieldModel['type'], value: string): string {
  if (typeof type !== 'string') return `${value} !== 0 && ${value} !== '${zeroName(type)}'`;
  if (type === 'string') return `${value} !== ''`;
  if (type === 'bool') return `${value} !== false`;
  if (type === 'bytes') return `${value}.length !== 0`;
  if (type === 'double' || type === 'float') return `${value} !== 0 || Object.is(${value}, -0)`;
  return WIDE.has(type) ? `${value} !== 0 && ${value} !== '0'` : `${value} !== 0`;
}

const WIDE: ReadonlySet<Scalar> = new Set<Scalar>(['int64', 'uint64', 'sint64', 'fixed64', 'sfixed64']);

function zeroName(type: EnumModel | MessageModel): string {
  const zero = type.kind === 'enum' ? type.values.find(([, number]) => number === 0) : undefined;
  if (zero === undefined) throw new Error(`${type.name} has no zero value`);
  return zero[0];
}

/** A value with its tag in front, whether or not it is the default. */
function element(type: FieldModel['type'], number: number, value: string): string {
  const head = tag(number, wireType(type));
  if (typeof type === 'string') return `w.${type}(${value}); w.tag(${head});`;
  if (type.name === 'google.protobuf.NullValue') return `w.tag(0); w.tag(${head});`;
  if (type.kind === 'enum') return `w.enum(${value}, ${identifier(type.name)}); w.tag(${head});`;
  const wrapped = WRAPPERS[type.name];
  const write =
    wrapped !== undefined
      ? implicit(wrapped, 1, value)
      : `${functionOf(type.name)}(w, ${value}${type.name in BY_HAND ? '' : ', 0'});`;
  return `s = w.size(); ${write} w.head(s, ${head});`;
}

function repeated({ number, type, packed }: FieldModel): string {
  const loop = 'for (let i = w.list(v) - 1; i >= 0; i--)';
  if (!packed) return `${loop} { ${element(type, number, 'v[i]')} }`;
  const write = typeof type === 'string' ? `w.${type}(v[i])` : `w.enum(v[i], ${identifier(type.name)})`;
  return `s = w.size(); ${loop} ${write}; if (w.size() !== s) w.head(s, ${tag(number, 2)});`;
}

function map({ number, type, key }: FieldModel): string {
  const keyType = key ?? 'string';
  const keyValue = keyType === 'bool' ? "keys[i] === 'true'" : 'keys[i]';
  const write = element(type, 2, 'v[keys[i] as string]').replaceAll('s = ', 't = ').replaceAll('head(s', 'head(t');
  const start = write.includes('t = ') ? 'let t = 0; ' : '';
  return `const keys = sortedKeys(v, '${keyType}'); ${start}for (let i = keys.length - 1; i >= 0; i--) { s = w.size(); ${write} w.${keyType}(${keyValue}); w.tag(${tag(1, WIRE_TYPES[keyType])}); w.head(s, ${tag(number, 2)}); }`;
}
