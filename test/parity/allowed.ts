import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { Difference } from './normalize.ts';

/** A difference from the expected answers that is meant. */
export interface AllowedDifference {
  readonly case: string;
  readonly proxy: string;
  readonly type: string;
  /** Its name; `*`: any of the type. */
  readonly resource: string;
  /**
   * The field, and all below it; `*.name`: fields of this name wherever they stand; empty: the resource as a whole may be
   * missing or too many.
   */
  readonly path: string;
  readonly reason: string;
}

/** More than this many are no exceptions any more. */
export const MOST_ALLOWED = 10;

/** @throws Error when there are more than `MOST_ALLOWED`, or one lacks a field */
export function readAllowed(file: string): readonly AllowedDifference[] {
  const list: readonly AllowedDifference[] = parse(readFileSync(file, 'utf8')) ?? [];
  if (list.length > MOST_ALLOWED) throw new Error(`${file}: ${list.length} lines, at most ${MOST_ALLOWED} are allowed`);
  for (const [i, line] of list.entries()) {
    for (const field of ['case', 'proxy', 'type', 'resource', 'path', 'reason'] as const) {
      if (typeof line[field] !== 'string') throw new Error(`${file}: line ${i + 1} has no ${field}`);
    }
    if (line.reason === '') throw new Error(`${file}: line ${i + 1} has no reason`);
  }
  return list;
}

/** Whether a line is about this resource. */
export function isAbout(
  line: AllowedDifference,
  { case: name, proxy, type, resource }: Pick<AllowedDifference, 'case' | 'proxy' | 'type' | 'resource'>,
): boolean {
  const named = line.resource === '*' || line.resource === resource;
  return named && line.case === name && line.proxy === proxy && line.type === type;
}

/** Whether a line that is about the resource allows this difference. */
export function allows(line: AllowedDifference, { path }: Pick<Difference, 'path'>): boolean {
  if (line.path.startsWith('*.')) return `${path}.`.replaceAll('[', '.').includes(`${line.path.slice(1)}.`);
  const allowed = line.path === '' || line.path.startsWith('.') ? line.path : `.${line.path}`;
  if (path === allowed) return true;
  return allowed !== '' && path.startsWith(allowed) && /[.[]/.test(path[allowed.length] ?? '');
}
