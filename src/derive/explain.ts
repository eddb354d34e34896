import type { InputName } from './api.ts';
import type { Cell } from './cell.ts';
import { compareKeys, describeKey } from './keys.ts';

/** The inputs that `cell` depends on, directly or through others, sorted. */
export function inputsBelow(cell: Cell): readonly InputName[] {
  const cells = new Set([cell]);
  for (const found of cells) for (const lower of found.below()) cells.add(lower);
  return [...cells]
    .filter(({ family }) => family.kind === 'input')
    .map(({ family, key }) => ({ input: family.name, key: describeKey(key) }))
    .sort((a, b) => compareKeys(a.input, b.input) || compareKeys(a.key, b.key));
}
