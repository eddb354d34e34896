import { DESCRIPTORS } from '#generated/proto/descriptors.ts';

export type ScalarType =
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

export interface EnumDescriptor {
  readonly kind: 'enum';
  readonly name: string;
  readonly numbers: ReadonlyMap<string, number>;
  /** Of several names of one number the first. */
  readonly names: ReadonlyMap<number, string>;
}

export interface FieldDescriptor {
  readonly number: number;
  /** As in the proto: `connect_timeout`. */
  readonly name: string;
  /** As in proto JSON: `connectTimeout`. */
  readonly jsonName: string;
  readonly type: ScalarType | EnumDescriptor | MessageDescriptor;
  readonly shape: 'single' | 'list' | 'map';
  /** Type of a map's keys; undefined when it is none. */
  readonly key: ScalarType | undefined;
  /** Whether a default that was set differs from absence. */
  readonly presence: boolean;
  /** Fields of a message with the same number here exclude each other. */
  readonly oneof: number | undefined;
}

export interface MessageDescriptor {
  readonly kind: 'message';
  readonly name: string;
  readonly byNumber: ReadonlyMap<number, FieldDescriptor>;
  readonly byJsonName: ReadonlyMap<string, FieldDescriptor>;
}

type FieldEntry = readonly [number: number, name: string, type: string, kind?: string, oneof?: number | null];

interface Table {
  readonly messages: readonly (readonly [name: string, fields: readonly FieldEntry[]])[];
  readonly enums: readonly (readonly [name: string, values: readonly (readonly [string, number])[]])[];
}

/** What is known of one message; undefined when nothing is. The first call reads the table of all messages. */
export function messageDescriptor(fullName: string): MessageDescriptor | undefined {
  descriptors ??= parsedDescriptors();
  return descriptors.get(fullName);
}

// A cache of a constant; it is made late because most processes never need it.
let descriptors: ReadonlyMap<string, MessageDescriptor> | undefined;

function parsedDescriptors(): ReadonlyMap<string, MessageDescriptor> {
  const table = JSON.parse(DESCRIPTORS) as Table;
  const enums = table.enums.map(([name, values]): EnumDescriptor => {
    const names = new Map(values.toReversed().map(([valueName, number]) => [number, valueName]));
    return { kind: 'enum', name, numbers: new Map(values), names };
  });
  const messages = table.messages.map(([name]) => ({
    kind: 'message' as const,
    name,
    byNumber: new Map<number, FieldDescriptor>(),
    byJsonName: new Map<string, FieldDescriptor>(),
  }));
  const typeOf = (type: string): FieldDescriptor['type'] => {
    const index = Number(type.slice(1));
    return (
      (type.startsWith('m') ? messages[index] : Number.isNaN(index) ? undefined : enums[index]) ?? (type as ScalarType)
    );
  };
  for (const [index, [, fields]] of table.messages.entries()) {
    for (const [number, name, type, kind = '', oneof] of fields) {
      const field: FieldDescriptor = {
        number,
        name,
        jsonName: jsonNameOf(name),
        type: typeOf(type),
        shape: kind.startsWith('map ') ? 'map' : kind === 'list' ? 'list' : 'single',
        key: kind.startsWith('map ') ? (kind.slice('map '.length) as ScalarType) : undefined,
        presence: kind === 'presence',
        oneof: oneof ?? undefined,
      };
      messages[index]?.byNumber.set(number, field);
      messages[index]?.byJsonName.set(field.jsonName, field);
    }
  }
  return new Map(messages.map((message) => [message.name, message]));
}

/** protoc's rule: an underscore goes, and the letter after it becomes a capital. */
function jsonNameOf(name: string): string {
  return name.replace(/_+(.?)/g, (_, next: string) => next.toUpperCase());
}
