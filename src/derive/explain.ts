import type { Cell } from './cell.ts';
import { compareKeys, describeKey } from './keys.ts';

/** A value from outside: of an input, or the keys in a bucket of one of its indexes (`input.index`). */
export interface InputName {
  readonly input: string;
  readonly key: string;
}

/** The inputs that `cell` depends on, directly or through others, sorted. */
export function inputsBelow(cell: Cell): readonly InputName[] {
  const cells = new Set([cell]);
  for (const found of cells) for (const lower of found.below()) cells.add(lower);
  return [...cells]
    .filter(({ family }) => family.kind === 'input')
    .map(({ family, key }) => ({ input: family.name, key: describeKey(key) }))
    .sort((a, b) => compareKeys(a.input, b.input) || compareKeys(a.key, b.key));
}
