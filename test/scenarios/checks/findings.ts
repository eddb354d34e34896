import { type Diagnostic, formatDiagnostic, type Severity } from '../../../src/base/diagnostic.ts';
import { codesFor } from '../codes.ts';
import { text, texts } from '../fields.ts';
import type { Check } from '../scenario.ts';
import type { World } from '../world.ts';
import { firstOf, type Look } from './check-kind.ts';

const SEVERITIES: readonly Severity[] = ['info', 'warning', 'error'];

/** Findings about the configuration. */
export const diag: Look = async (check, world) => {
  const { assert } = check;
  const findings = await world.istiod.json<readonly Diagnostic[]>('/debug/diagnosticsz');
  const unwanted = text(assert['none_for_file']);
  const codes = texts(assert['none_of_codes']).flatMap(codesFor);
  const errors = findings.filter(({ severity }) => severity === 'error');
  const count = assert['count_errors'];
  const found = findings.find(({ location, code }) => location.file === unwanted || codes.includes(code));
  return firstOf([
    found === undefined ? undefined : `there is ${formatDiagnostic(found)}`,
    count === undefined || errors.length === count
      ? undefined
      : `${errors.length} errors, not ${count}: ${errors.map(formatDiagnostic).join('; ')}`,
    wantsOne(check) && !findings.some((finding) => fits(finding, check, world)) ? nearest(findings, check) : undefined,
  ]);
};

const NONE: ReadonlySet<string> = new Set(['none_for_file', 'none_of_codes', 'count_errors']);

function wantsOne({ assert }: Check): boolean {
  return Object.keys(assert).some((name) => !NONE.has(name));
}

function fits(finding: Diagnostic, { assert }: Check, world: World): boolean {
  const { severity, code, location, resource = '' } = finding;
  const words = `${formatDiagnostic(finding)} ${resource}`;
  const near = (line: number) => Math.abs(location.line - line) <= world.scenario.lineTolerance;
  const rank = (one: string) => SEVERITIES.indexOf(one as Severity);
  return Object.entries(assert).every(([name, value]) => {
    switch (name) {
      case 'file':
        return location.file === value;
      case 'file_any':
        return texts(value).includes(location.file);
      case 'line':
        return near(Number(value));
      case 'line_any':
        return texts(value).some((line) => near(Number(line)));
      case 'severity':
        return severity === value;
      case 'severity_at_least':
        return rank(severity) >= rank(text(value));
      case 'resource':
        return resource === value;
      case 'mentions':
        return texts(value).every((word) => words.includes(word));
      case 'code':
        return codesFor(text(value)).includes(code);
      default:
        return NONE.has(name);
    }
  });
}

/** What there is instead: in the same file, or about the same things. */
function nearest(findings: readonly Diagnostic[], { assert }: Check): string {
  const files = [text(assert['file']), ...texts(assert['file_any'])];
  const close = findings.filter(({ location }) => files.includes(location.file));
  const shown = (close.length > 0 ? close : findings).map(formatDiagnostic);
  return `no finding is so; there ${shown.length === 1 ? 'is' : 'are'} ${shown.join('; ') || 'none'}`;
}

/** Whether an object is taken, and what is served of it. */
export const status: Look = async ({ resource, assert }, world) => {
  const findings = await world.istiod.json<readonly Diagnostic[]>('/debug/diagnosticsz');
  const about = findings.filter((finding) => finding.resource === resource);
  const accepted = !about.some(({ severity }) => severity === 'error');
  const serving = about.some(({ code }) => code === LAST_GOOD) ? 'last-good' : accepted ? 'current' : 'none';
  return firstOf([
    assert['accepted'] === undefined || assert['accepted'] === accepted ? undefined : `accepted is ${accepted}`,
    assert['serving'] === undefined || assert['serving'] === serving ? undefined : `served is ${serving}`,
  ]);
};

const LAST_GOOD = 'VM0202';
