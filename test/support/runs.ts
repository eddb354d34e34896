/**
 * How many examples a property is tried with. `npm test` tries all; `RUNS`, a part of 1, makes it fewer where an answer is wanted
 * soon, as in `npm run check`, or more for a long search.
 *
 * @param all at `RUNS=1`
 */
export function runs(all: number): number {
  return Math.max(1, Math.round(all * Number(process.env['RUNS'] ?? 1)));
}
