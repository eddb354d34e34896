import type { Secret as SecretSpec } from '#generated/config/specs.ts';
import { decodedText, pairProblem, revocationsProblem, rootsProblem } from '../../base/certificate.ts';
import type { Finding, Place } from '../finding.ts';
import { defineKind, type KindDefinition } from '../kind.ts';
import type { WholeFile } from '../parse.ts';
import { Secret } from '../schema/kubernetes.ts';
import { certificateIn, rootsIn } from '../secret-data.ts';

/** `stringData` laid over `data`. */
function dataOf({ data, stringData }: SecretSpec): Readonly<Record<string, string>> {
  const texts = Object.entries(stringData ?? {}).map(([name, text]) => [name, Buffer.from(text).toString('base64')]);
  return { ...data, ...Object.fromEntries(texts) };
}

const TLS_TYPE = 'kubernetes.io/tls';
const TLS_ENTRIES = ['tls.crt', 'tls.key'] as const;

/** Certificates that a proxy would refuse are refused here, so that the last good ones stay. Nothing of them is told. */
function* dataFindings(spec: SecretSpec, at: Place['at']): Generator<Finding> {
  const data = dataOf(spec);
  const entry = (name: string): Place => at(name in (spec.stringData ?? {}) ? 'stringData' : 'data', name);
  const pair = certificateIn(data);
  if (pair === undefined && (spec.type === TLS_TYPE || TLS_ENTRIES.every((name) => name in data))) {
    for (const name of TLS_ENTRIES) {
      if (!(name in data)) yield at('data').error(`a Secret of type ${TLS_TYPE} needs the entry "${name}"`);
      else if (!data[name]) yield entry(name).error('it is empty: a text in PEM form is needed');
    }
  }
  if (pair !== undefined) {
    const found = pairProblem(decodedText(pair.certificate), decodedText(pair.privateKey));
    if (found !== undefined) yield entry(pair.at[found.part]).error(found.problem);
  }
  const roots = rootsIn(data);
  if (roots === undefined) return;
  const problem = rootsProblem(decodedText(roots.roots));
  if (problem !== undefined) yield entry(roots.at.roots).error(problem);
  const revoked = roots.revocations && revocationsProblem(decodedText(roots.revocations));
  if (revoked) yield entry(roots.at.revocations).error(revoked);
}

export const SECRET: KindDefinition<SecretSpec> = defineKind({
  group: '',
  versions: ['v1'],
  scope: 'Namespaced',
  kind: 'Secret',
  plural: 'secrets',
  specField: 'root',
  schema: Secret,
  validate: ({ spec, at }) => dataFindings(spec, at),
  default: (spec) => {
    const { stringData: _, ...rest } = spec;
    return Object.freeze({ type: 'Opaque', ...rest, data: Object.freeze(dataOf(spec)) });
  },
});

/** Files with certificates that configuration names, held as a Secret would hold them. No document has this kind. */
export const CERTIFICATE_FILES: KindDefinition<SecretSpec> = { ...SECRET, kind: 'CertificateFiles', scope: 'Cluster' };

/** @param name the resource name by which proxies ask for the files: `file-cert:…` or `file-root:…` */
export function certificateFiles(name: string): WholeFile {
  return { kind: CERTIFICATE_FILES, name };
}

/** Whether objects of the kind hold keys, so that what they hold is shown to nobody. */
export function holdsKeys(kind: string): boolean {
  return kind === SECRET.kind || kind === CERTIFICATE_FILES.kind;
}
