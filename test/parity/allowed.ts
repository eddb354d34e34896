import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { Difference } from './normalize.ts';

/** A difference from the expected answers that is meant. */
export interface AllowedDifference {
  readonly case: string;
  readonly proxy: string;
  readonly type: string;
  readonly resource: string;
  /** The field, and all below it; empty: the resource as a whole may be missing or too many. */
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

/** Whether a line allows this difference. */
export function allows(line: AllowedDifference, { path }: Pick<Difference, 'path'>): boolean {
  const allowed = line.path === '' || line.path.startsWith('.') ? line.path : `.${line.path}`;
  if (path === allowed) return true;
  return allowed !== '' && path.startsWith(allowed) && /[.[]/.test(path[allowed.length] ?? '');
}
