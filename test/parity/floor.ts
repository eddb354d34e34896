import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { type AreaTally, percent } from './tally.ts';

/** Percentages of distinct resources, by area, that must be right. */
export interface Floor {
  readonly sidecars: Readonly<Record<string, number>>;
  readonly proxies: Readonly<Record<string, number>>;
  /** Resources in which incremental answers may differ. */
  readonly disagreements: number;
}

export function readFloor(file: string): Floor {
  return { sidecars: {}, proxies: {}, disagreements: 0, ...parse(readFileSync(file, 'utf8')) };
}

/** What does not hold, a line each. Areas of which nothing was asked are passed over. */
export function belowFloor(floor: Floor, areas: readonly AreaTally[], disagreements: number): readonly string[] {
  const low = (['sidecars', 'proxies'] as const).flatMap((column) =>
    areas.flatMap((tally) => {
      const minimum = floor[column][tally.area];
      if (minimum === undefined || tally[column].all === 0 || percent(tally[column]) >= minimum) return [];
      return [`${tally.area}, ${column}: ${percent(tally[column]).toFixed(1)} %, ${minimum} % must hold`];
    }),
  );
  if (disagreements <= floor.disagreements) return low;
  return [...low, `incremental answers differ in ${disagreements} resources, at most ${floor.disagreements} may`];
}
