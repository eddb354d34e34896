import { readdirSync } from 'node:fs';
import type { Enum, Message, Type } from '../../src/config/schema/schema.ts';

const FOLDER = new URL('../../src/config/schema/', import.meta.url);

function isNamed(value: unknown): value is Enum | Message {
  const kind = (value as Partial<Type> | null)?.kind;
  return typeof value === 'object' && (kind === 'message' || kind === 'enum');
}

/** Every message and enum that the files of src/config/schema describe, by name. */
export async function schemaTypes(): Promise<readonly (Enum | Message)[]> {
  const types = new Map<string, Enum | Message>();
  for (const file of readdirSync(FOLDER).sort()) {
    const exported: Record<string, unknown> = await import(new URL(file, FOLDER).href);
    for (const value of Object.values(exported)) {
      if (!isNamed(value)) continue;
      if (types.has(value.name) && types.get(value.name) !== value) throw new Error(`${file}: a second ${value.name}`);
      types.set(value.name, value);
    }
  }
  return [...types.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}
