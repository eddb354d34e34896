import protobuf from 'protobufjs';

export type Scalar =
  | 'double'
  | 'float'
  | 'int32'
  | 'uint32'
  | 'sint32'
  | 'fixed32'
  | 'sfixed32'
  | 'int64'
  | 'uint64'
  | 'sint64'
  | 'fixed64'
  | 'sfixed64'
  | 'bool'
  | 'string'
  | 'bytes';

export interface EnumModel {
  readonly kind: 'enum';
  readonly name: string;
  readonly values: readonly (readonly [name: string, number: number])[];
}

export interface MessageModel {
  readonly kind: 'message';
  /** The full name: `envoy.config.cluster.v3.Cluster`. */
  readonly name: string;
  /** Position in `Model.messages`. */
  readonly index: number;
  /** In order of their numbers. */
  readonly fields: readonly FieldModel[];
  /** Names of the oneofs, those of `optional` fields left out. */
  readonly oneofs: readonly string[];
}

export interface FieldModel {
  readonly number: number;
  readonly name: string;
  readonly jsonName: string;
  readonly type: Scalar | EnumModel | MessageModel;
  readonly shape: 'single' | 'repeated' | 'map';
  /** Of a map. */
  readonly key: Scalar | undefined;
  readonly packed: boolean;
  /** Whether a default value that was set differs from absence. */
  readonly presence: boolean;
  /** Position in `MessageModel.oneofs`. */
  readonly oneof: number | undefined;
}

export interface Model {
  /** In order of their names. */
  readonly messages: readonly MessageModel[];
  readonly enums: readonly EnumModel[];
}

/** Options, annotations and descriptors: no message of them is ever a part of a configuration. */
const LEFT_OUT = [
  /^validate\./,
  /^(envoy|udpa|xds)\.annotations\./,
  /^google\.api\.(?!expr\.)/,
  /^google\.protobuf\.(?!(Any|Duration|Empty|FieldMask|ListValue|Struct|Timestamp|\w*Value)$|Struct\.)/,
];

/** The name of a field in proto JSON, as protoc forms it. */
export function jsonName(name: string): string {
  let result = '';
  let upper = false;
  for (const char of name) {
    if (char === '_') upper = true;
    else {
      result += upper ? char.replace(/[a-z]/, (letter) => letter.toUpperCase()) : char;
      upper = false;
    }
  }
  return result;
}

const fullName = (object: protobuf.ReflectionObject): string => object.fullName.slice(1);

function* typesOf(namespace: protobuf.NamespaceBase): Generator<protobuf.Type | protobuf.Enum> {
  for (const object of namespace.nestedArray) {
    if (object instanceof protobuf.Type || object instanceof protobuf.Enum) yield object;
    if (object instanceof protobuf.Namespace) yield* typesOf(object);
  }
}

/** What the generators read: messages and enums without options, services and source positions. */
export function modelOf(root: protobuf.Root): Model {
  const types = [...typesOf(root)]
    .filter((type) => !LEFT_OUT.some((pattern) => pattern.test(fullName(type))))
    .sort((a, b) => (fullName(a) < fullName(b) ? -1 : 1));
  const enums = new Map<protobuf.ReflectionObject, EnumModel>();
  const messages = new Map<protobuf.ReflectionObject, MessageModel & { fields: readonly FieldModel[] }>();
  for (const type of types) {
    if (type instanceof protobuf.Enum) {
      enums.set(type, { kind: 'enum', name: fullName(type), values: Object.entries(type.values) });
    } else {
      const oneofs = type.oneofsArray.filter((oneof) => !oneof.isProto3Optional).map((oneof) => oneof.name);
      messages.set(type, { kind: 'message', name: fullName(type), index: messages.size, fields: [], oneofs });
    }
  }
  for (const [type, message] of messages) {
    const fields = (type as protobuf.Type).fieldsArray.map((field) => fieldModel(field, message, enums, messages));
    message.fields = fields.sort((a, b) => a.number - b.number);
  }
  return { messages: [...messages.values()], enums: [...enums.values()] };
}

function fieldModel(
  field: protobuf.Field,
  message: MessageModel,
  enums: ReadonlyMap<protobuf.ReflectionObject, EnumModel>,
  messages: ReadonlyMap<protobuf.ReflectionObject, MessageModel>,
): FieldModel {
  const resolved = field.resolvedType;
  const type = resolved === null ? (field.type as Scalar) : (enums.get(resolved) ?? messages.get(resolved));
  if (type === undefined) throw new Error(`${field.fullName} refers to a message that is left out`);
  const oneof = message.oneofs.indexOf(field.partOf?.name ?? '');
  return {
    number: field.id,
    name: field.name,
    jsonName: jsonName(field.name),
    type,
    shape: field.map ? 'map' : field.repeated ? 'repeated' : 'single',
    key: field instanceof protobuf.MapField ? (field.keyType as Scalar) : undefined,
    packed: field.packed && !(resolved instanceof protobuf.Type) && field.type !== 'string' && field.type !== 'bytes',
    presence: field.hasPresence || resolved instanceof protobuf.Type,
    oneof: oneof < 0 ? undefined : oneof,
  };
}
