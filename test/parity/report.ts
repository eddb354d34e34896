import type { JsonValue } from '../../src/base/json.ts';
import { isRight, type Outcome } from './compare.ts';
import { type AreaTally, type CaseResult, isWhole, percent, type Share } from './tally.ts';

/** Names that are printed of one case unless all are asked for. */
const NAMES = 6;

/** A line a case; with `verbose` more lines that say where the differences are. */
export function caseLines(result: CaseResult, verbose: boolean): readonly string[] {
  const expected = result.outcomes.filter(({ identity }) => identity !== undefined);
  const wrong = result.outcomes.filter((outcome) => !isRight(outcome));
  const names = [
    ...result.errors.map((error) => error.split('\n')[0] ?? ''),
    ...result.refusals,
    ...wrong.map(label),
    ...result.disagreements.map((name) => `incremental differs: ${name}`),
  ];
  const shown = verbose ? names : names.slice(0, NAMES);
  const more = names.length > shown.length ? [`${names.length - shown.length} more`] : [];
  const count = `${expected.filter(isRight).length}/${expected.length}`;
  const verdict = isWhole(result) && names.length === 0 ? 'ok' : [...shown, ...more].join(', ');
  const line = `${result.name} ${result.area} ${count} ${verdict}`;
  return verbose ? [line, ...result.errors, ...wrong.flatMap(details)] : [line];
}

function label({ proxy, type, name, verdict }: Outcome): string {
  const sign = verdict === 'extra' ? '+' : verdict === 'missing' ? '-' : '';
  return `${sign}${proxy} ${type} ${name}`;
}

function details(outcome: Outcome): readonly string[] {
  return [
    `  ${outcome.proxy} ${outcome.type} ${outcome.name}: ${outcome.verdict}`,
    ...outcome.differences
      .filter(({ path }) => path !== '')
      .map(({ path, expected, got }) => `    ${path.slice(1)}: expected ${brief(expected)}, got ${brief(got)}`),
  ];
}

function brief(value: JsonValue | undefined): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}

const HEADS = ['area', 'sidecars', '', 'all proxies', '', 'whole (sidecars)', 'whole cases'] as const;

/** Distinct resources and whole cases, an area a line. */
export function table(areas: readonly AreaTally[]): readonly string[] {
  const share = ({ right, all }: Share) => (all === 0 ? '-' : `${right}/${all}`);
  const percentage = (part: Share) => (part.all === 0 ? '' : `${percent(part).toFixed(1)} %`);
  const rows = areas.map(({ area, sidecars, proxies, sidecarCases, cases }) => [
    area,
    share(sidecars),
    percentage(sidecars),
    share(proxies),
    percentage(proxies),
    share(sidecarCases),
    share(cases),
  ]);
  const widths = HEADS.map((head, i) => Math.max(head.length, ...rows.map((row) => row[i]?.length ?? 0)));
  return [[...HEADS], ...rows].map((row) =>
    row
      .map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
}
