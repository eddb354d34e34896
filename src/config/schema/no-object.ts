import { readScalar, shown } from './scalars.ts';
import type { Field, Message } from './schema.ts';

/** Fields that are named as what to write; more are too many to choose from. */
const MOST_FIELDS = 4;

/** How well a value that stands in the place of a message would do as one of its fields. */
function fits({ type, shape }: Field, raw: unknown): 'exactly' | 'perhaps' | 'not' {
  if (shape !== 'one' || type.kind === 'message') return 'not';
  if (type.kind === 'enum') return typeof raw === 'string' && Object.hasOwn(type.values, raw) ? 'exactly' : 'not';
  const { unreadable, outOfBounds } = readScalar(type, raw, false);
  return unreadable === undefined && outOfBounds === undefined ? 'perhaps' : 'not';
}

/** Why a value is no message, and what was likely meant: often it is one field's value without the field's name. */
export function noObject(schema: Message, raw: unknown): string {
  const what = `must be an object with the fields of ${schema.file ?? schema.name}, not ${shown(raw)}`;
  if (typeof raw === 'object' || schema.file !== undefined) return what;
  const fields = Object.entries(schema.fields);
  const fitting = (how: ReturnType<typeof fits>) => fields.filter(([, field]) => fits(field, raw) === how);
  const exact = fitting('exactly');
  const meant = (exact.length > 0 ? exact : fitting('perhaps')).filter(
    ([, { deprecated }]) => deprecated === undefined,
  );
  if (meant.length === 0 || meant.length > MOST_FIELDS) return what;
  return `${what}: write ${meant.map(([name]) => `{${name}: ${String(raw)}}`).join(' or ')}`;
}
