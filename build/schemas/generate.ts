import { mkdirSync, writeFileSync } from 'node:fs';
import { schemaTypes } from './messages.ts';
import { typeDeclarations } from './types.ts';

const ROOT = new URL('../../', import.meta.url);

function write(path: string, text: string): void {
  const url = new URL(path, ROOT);
  mkdirSync(new URL('.', url), { recursive: true });
  writeFileSync(url, text);
}

write('generated/config/specs.ts', typeDeclarations(await schemaTypes()));
