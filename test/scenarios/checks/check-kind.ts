import type { Check } from '../scenario.ts';
import type { World } from '../world.ts';

/** Why a check does not hold; undefined when it does. */
export type Verdict = string | undefined;

/** Looks whether a check holds now. What it throws is a reason, too. */
export type Look = (check: Check, world: World) => Verdict | Promise<Verdict>;

/** The first reason of several. */
export function firstOf(verdicts: Iterable<Verdict>): Verdict {
  for (const verdict of verdicts) if (verdict !== undefined) return verdict;
  return undefined;
}
