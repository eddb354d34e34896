import type { EnumModel, FieldModel, MessageModel, Model } from './model.ts';

const HEADER = `// Generated from the protos by build/proto. Parsed by src/proto/descriptors.ts when it is first needed.
`;

/** All messages and enums as one JSON text: a text costs nothing to load, and most processes never look into it. */
export function descriptorsModule({ messages, enums }: Model): string {
  const enumIndex = new Map(enums.map((type, index) => [type, index]));
  const reference = (type: EnumModel | MessageModel) =>
    type.kind === 'enum' ? `e${enumIndex.get(type)}` : `m${type.index}`;
  const field = ({ number, name, type, shape, key, presence, oneof }: FieldModel) => {
    const kind = shape === 'map' ? `map ${key}` : shape === 'repeated' ? 'list' : presence ? 'presence' : '';
    const entry = [number, name, typeof type === 'string' ? type : reference(type), kind, oneof];
    while (entry.at(-1) === undefined || entry.at(-1) === '') entry.pop();
    return entry;
  };
  const table = {
    messages: messages.map(({ name, fields }) => [name, fields.map(field)]),
    enums: enums.map(({ name, values }) => [name, values]),
  };
  return `${HEADER}export const DESCRIPTORS: string = ${JSON.stringify(JSON.stringify(table))};\n`;
}
