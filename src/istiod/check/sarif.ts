import type { Diagnostic, Severity } from '../../base/diagnostic.ts';
import { contentVersion } from '../../base/hash.ts';
import { CODE_ADVICE } from '../../config/code-advice.ts';
import { CODES, type Code } from '../../config/codes.ts';
import { VERSION } from '../../process/version.ts';

const SCHEMA = 'https://json.schemastore.org/sarif-2.1.0.json';

const LEVELS: Readonly<Record<Severity, 'error' | 'warning' | 'note'>> = {
  error: 'error',
  warning: 'warning',
  info: 'note',
};

/**
 * Findings as a log of the Static Analysis Results Interchange Format, which code scanning reads. Paths are relative to where
 * the program ran, so run it at the root of the repository.
 *
 * @returns a SARIF log, ready for JSON
 * @see OASIS SARIF 2.1.0, §3.14 (runs), §3.27 (results)
 */
export function sarifLog(findings: readonly Diagnostic[]): object {
  const ids = [...new Set(findings.map(({ code }) => code))].sort();
  const ruleIndexes = new Map(ids.map((id, i) => [id, i]));
  const driver = { name: 'istiod-vm', version: VERSION, rules: ids.map(rule) };
  const results = withFingerprints(findings).map(([finding, print]) => result(finding, print, ruleIndexes));
  const run = { tool: { driver }, columnKind: 'utf16CodeUnits', results };
  return { $schema: SCHEMA, version: '2.1.0', runs: [run] };
}

function rule(id: string): object {
  const text = CODES[id as Code];
  const advice = CODE_ADVICE[id as Code];
  return { id, shortDescription: { text }, fullDescription: { text }, help: { text: advice } };
}

/**
 * What a finding is known by from one run to the next, wherever it stands in its file; of findings that say the same the
 * second is told from the first.
 */
function withFingerprints(findings: readonly Diagnostic[]): readonly (readonly [Diagnostic, string])[] {
  const seen = new Map<string, number>();
  return findings.map((finding) => {
    const { code, location, path = '', resource = '', message } = finding;
    const said = JSON.stringify([code, location.file, resource, path, message]);
    const count = (seen.get(said) ?? 0) + 1;
    seen.set(said, count);
    return [finding, `${contentVersion(said)}:${count}`];
  });
}

function result(
  { severity, code, message, location, path, resource }: Diagnostic,
  fingerprint: string,
  ruleIndexes: ReadonlyMap<string, number>,
): object {
  const where = {
    physicalLocation: {
      artifactLocation: { uri: uriOf(location.file), uriBaseId: '%SRCROOT%' },
      region: { startLine: location.line, startColumn: location.column },
    },
    ...(resource === undefined ? {} : { logicalLocations: [{ fullyQualifiedName: resource, kind: 'resource' }] }),
  };
  return {
    ruleId: code,
    ruleIndex: ruleIndexes.get(code),
    level: LEVELS[severity],
    message: { text: path === undefined ? message : `${path}: ${message}` },
    locations: [where],
    partialFingerprints: { 'finding/v1': fingerprint },
  };
}

/** A relative path as a relative URI. */
function uriOf(file: string): string {
  return file.split('/').map(encodeURIComponent).join('/');
}
