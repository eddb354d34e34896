import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { kindName } from '../../src/config/config.ts';
import { KINDS } from '../../src/config/kinds/kinds.ts';
import { MESH_FILE, MESH_NETWORKS } from '../../src/config/kinds/mesh-config.ts';
import { IstiodOptionsSchema } from '../../src/istiod/options-schema.ts';
import { anyKindSchema, fileSchema, type JsonSchema, kindSchema } from './json-schema.ts';
import { schemaTypes } from './messages.ts';
import { typeDeclarations } from './types.ts';

const ROOT = new URL('../../', import.meta.url);

/** What is the same already is not written, so that a type checker that runs beside never sees half a file. */
function write(path: string, text: string): void {
  const url = new URL(path, ROOT);
  if (existsSync(url) && readFileSync(url, 'utf8') === text) return;
  mkdirSync(new URL('.', url), { recursive: true });
  writeFileSync(url, text);
}

function writeSchema(name: string, schema: JsonSchema): void {
  write(`dist/schemas/${name}.json`, `${JSON.stringify(schema, null, 1)}\n`);
}

write('generated/config/specs.ts', typeDeclarations(await schemaTypes()));
for (const kind of KINDS) writeSchema(kindName(kind), kindSchema(kind));
writeSchema('all', anyKindSchema(KINDS));
for (const { kind, schema } of [MESH_FILE, MESH_NETWORKS]) writeSchema(kind, fileSchema(kind, schema));
writeSchema(IstiodOptionsSchema.name, fileSchema(IstiodOptionsSchema.name, IstiodOptionsSchema));
