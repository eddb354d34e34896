import type { Diagnostic } from '../../src/base/diagnostic.ts';
import type { RejectedDocument } from './case-files.ts';

const ROOT = 'etc/istio/conf/';

/** Codes of findings with which a document is not taken; others are about what is served. */
const REFUSES = /^(IST0106|VM00|VM01)/;

/**
 * How the documents that were refused differ from those that should have been: exactly the objects that fail to decode or to
 * validate. What is no object at all (no YAML, no kind, a kind that nobody knows) needs a finding in its file, of any severity.
 */
export function refusalMistakes(
  rejected: readonly RejectedDocument[],
  findings: readonly Diagnostic[],
): readonly string[] {
  const errors = findings.filter(({ severity, code }) => severity === 'error' && REFUSES.test(code));
  const isObject = ({ stage }: RejectedDocument) => stage === 'decode' || stage === 'validate';
  const wanted = new Set(rejected.filter(isObject).map(({ file, kind, name }) => `${file} ${kind} ${name}`));
  const refused = new Set(errors.filter(({ resource }) => resource !== undefined).map(objectOf));
  const others = new Set(rejected.filter((one) => !isObject(one)).map(({ file }) => file));
  const files = new Set(findings.map(({ location }) => fileOf(location.file)));
  const withoutObject = errors.filter(({ resource }) => resource === undefined).map(({ location }) => location.file);
  return [
    ...[...wanted].filter((one) => !refused.has(one)).map((one) => `taken: ${one}`),
    ...[...refused].filter((one) => !wanted.has(one)).map((one) => `refused: ${one}`),
    ...[...others].filter((file) => !files.has(file)).map((file) => `no finding: ${file}`),
    ...[...new Set(withoutObject.map(fileOf))].filter((file) => !others.has(file)).map((file) => `refused: ${file}`),
  ];
}

function objectOf({ location, resource = '' }: Diagnostic): string {
  const [kind, ...rest] = resource.split('/');
  return `${fileOf(location.file)} ${kind} ${rest.at(-1) ?? ''}`;
}

function fileOf(path: string): string {
  return path.startsWith(ROOT) ? path.slice(ROOT.length) : path;
}
