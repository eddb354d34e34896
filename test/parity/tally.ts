import { isRight, type Outcome } from './compare.ts';

/** What became of one case. */
export interface CaseResult {
  readonly name: string;
  readonly area: string;
  readonly outcomes: readonly Outcome[];
  /** Names of the case's proxies that are sidecars. */
  readonly sidecars: ReadonlySet<string>;
  /** Resources in which the incremental answers differ, as `proxy type name`. */
  readonly disagreements: readonly string[];
  /** Documents that were refused and should not have been, or the other way round. */
  readonly refusals: readonly string[];
  /** What kept answers from being had. */
  readonly errors: readonly string[];
}

/** Distinct expected contents, and those that were right wherever they were expected. */
export interface Share {
  readonly right: number;
  readonly all: number;
}

export interface AreaTally {
  readonly area: string;
  readonly sidecars: Share;
  readonly proxies: Share;
  /** Cases of which all is right for every sidecar; of cases with sidecars. */
  readonly sidecarCases: Share;
  readonly cases: Share;
}

/** 100 when there is nothing. */
export function percent({ right, all }: Share): number {
  return all === 0 ? 100 : (100 * right) / all;
}

/** Equal content counts once, and is right only when each proxy that should be sent it was. */
export function distinct(outcomes: readonly Outcome[]): Share {
  const right = new Map<string, boolean>();
  for (const outcome of outcomes) {
    const { identity } = outcome;
    if (identity !== undefined) right.set(identity, (right.get(identity) ?? true) && isRight(outcome));
  }
  return { right: [...right.values()].filter(Boolean).length, all: right.size };
}

/** Whether all that the case expects was answered, and nothing else. */
export function isWhole({ outcomes, refusals, errors }: CaseResult): boolean {
  return outcomes.every(isRight) && refusals.length === 0 && errors.length === 0;
}

/** Figures of a group of cases. */
export function tally(area: string, results: readonly CaseResult[]): AreaTally {
  const ofSidecars = results
    .filter(({ sidecars }) => sidecars.size > 0)
    .map((result) => ({ ...result, outcomes: result.outcomes.filter(({ proxy }) => result.sidecars.has(proxy)) }));
  const outcomes = (list: readonly CaseResult[]) => list.flatMap((result) => result.outcomes);
  const whole = (list: readonly CaseResult[]) => ({ right: list.filter(isWhole).length, all: list.length });
  return {
    area,
    sidecars: distinct(outcomes(ofSidecars)),
    proxies: distinct(outcomes(results)),
    sidecarCases: whole(ofSidecars),
    cases: whole(results),
  };
}

/** Figures by area, in order of names. */
export function tallyByArea(results: readonly CaseResult[]): readonly AreaTally[] {
  const areas = [...Map.groupBy(results, ({ area }) => area)];
  return areas.sort(([a], [b]) => (a < b ? -1 : 1)).map(([area, list]) => tally(area, list));
}
