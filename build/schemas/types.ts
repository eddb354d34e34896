import type { Enum, Field, Message, Scalar, Type } from '../../src/config/schema/schema.ts';

const SCALARS: Readonly<Record<Scalar['kind'], string>> = {
  string: 'string',
  bool: 'boolean',
  int32: 'number',
  uint32: 'number',
  int64: 'number | string',
  uint64: 'number | string',
  double: 'number',
  duration: 'string',
  bytes: 'string',
  struct: 'JsonObject',
  'int-or-string': 'number | string',
  'scalar-text': 'string',
};

function typeName(type: Type): string {
  return type.kind === 'message' || type.kind === 'enum' ? type.name : SCALARS[type.kind];
}

function fieldType({ shape, type }: Field): string {
  const name = typeName(type);
  switch (shape) {
    case 'one':
      return name;
    case 'list':
      return name.includes(' ') ? `readonly (${name})[]` : `readonly ${name}[]`;
    case 'map':
      return `Readonly<Record<string, ${name}>>`;
  }
}

function fieldDoc(field: Field): string {
  const parts = [field.doc];
  if (field.default !== undefined) parts.push(`@defaultValue ${field.default}`);
  if (field.deprecated !== undefined) parts.push(`@deprecated ${field.deprecated}`);
  return parts.join('\n   * ');
}

function declaration(type: Enum | Message): string {
  if (type.kind === 'enum') {
    const names = Object.keys(type.values).map((name) => `'${name}'`);
    return `/** ${type.doc} */\nexport type ${type.name} = ${names.join(' | ')};\n`;
  }
  const fields = Object.entries(type.fields).map(([name, field]) => {
    const optional = field.required === true ? '' : '?';
    return `  /** ${fieldDoc(field)} */\n  readonly ${name}${optional}: ${fieldType(field)};`;
  });
  if (fields.length === 0) return `/** ${type.doc} */\nexport type ${type.name} = Readonly<Record<string, never>>;\n`;
  return `/** ${type.doc} */\nexport interface ${type.name} {\n${fields.join('\n')}\n}\n`;
}

/** The TypeScript source with one interface per message and one union per enum, as `normalize` leaves the specs. */
export function typeDeclarations(types: readonly (Enum | Message)[]): string {
  return [
    '// Made by build/schemas/generate.ts from src/config/schema/.',
    "import type { JsonObject } from '../../src/base/json.ts';\n",
    ...types.map(declaration),
  ].join('\n');
}
