import type { KindDefinition } from '../../src/config/kind.ts';
import { KINDS } from '../../src/config/kinds/kinds.ts';
import { MESH, NETWORKS } from '../../src/config/mesh-files.ts';
import type { Field, Message } from '../../src/config/schema/schema.ts';

/** Kinds of which each field is known: Istio's, the Gateway API's, Ingresses, and the two files. */
export const API_KINDS: readonly KindDefinition[] = [
  ...KINDS.filter(({ schema }) => schema.style !== 'kubernetes'),
  MESH.kind,
  NETWORKS.kind,
];

/** What becomes of a field that is set. */
export type Support = { readonly is: 'supported' } | { readonly is: 'ignored' | 'refused'; readonly why: string };

const SUPPORTED: Support = { is: 'supported' };

function supportOf({ ignored, unserved, refused }: Field): Support {
  const without = ignored ?? unserved;
  if (without !== undefined) return { is: 'ignored', why: without };
  return refused === undefined ? SUPPORTED : { is: 'refused', why: refused };
}

/** By `Message.field`. What can be reached only through fields without effect has none either. */
export function declaredSupport(): ReadonlyMap<string, Support> {
  const out = new Map<string, Support>();
  const visit = (message: Message, inherited: Support): void => {
    for (const [name, field] of Object.entries(message.fields)) {
      const id = `${message.name}.${name}`;
      const now = inherited.is === 'supported' ? supportOf(field) : inherited;
      const known = out.get(id);
      if (known?.is === 'supported' || (known !== undefined && now.is !== 'supported')) continue;
      out.set(id, now);
      if (field.type.kind === 'message') visit(field.type, now);
    }
  };
  for (const { schema } of API_KINDS) visit(schema, SUPPORTED);
  return out;
}
