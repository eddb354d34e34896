import { Buffer } from 'node:buffer';
import { realpathSync } from 'node:fs';
import { resolve, sep } from 'node:path';
import { decodedText, validityOf } from '../base/certificate.ts';
import type { Diagnostic } from '../base/diagnostic.ts';
import type { FileSecret } from '../config/file-secrets.ts';
import { certificateFiles } from '../config/kinds/secret.ts';
import { LIMITS } from '../config/limits.ts';
import { wholeFileKey } from '../config/mesh-files.ts';
import { parseDocument } from '../config/parse.ts';
import type { ParsedDocument } from '../config/parsed.ts';
import { fileContent } from './read-file.ts';
import { systemReason } from './source.ts';

export const CERTIFICATE_SOURCE = 'file:certificates';

/** Files of this control plane, which no configuration hands out: its own keys, and those of its authority. */
const OWN_FILES: readonly string[] = [
  'etc/cacerts',
  'etc/certs/key.pem',
  'etc/certs/ca-key.pem',
  'etc/istio/join-tokens.yaml',
  'var/lib/istio',
];

/** The files of a secret, by the names that their contents have in a Secret; that which findings are about comes first. */
function entriesOf(secret: FileSecret): Readonly<Record<string, string>> {
  return 'roots' in secret
    ? { 'ca.crt': secret.roots, ...(secret.revocations && { 'ca.crl': secret.revocations }) }
    : { 'tls.crt': secret.certificate, 'tls.key': secret.privateKey };
}

export function pathsOf(secret: FileSecret): readonly string[] {
  return Object.values(entriesOf(secret));
}

/** Where files of secrets are, and which are handed out to nobody. */
export interface CertificatePlaces {
  /** The working directory, which paths are relative to. */
  readonly root: string;
  /** Beside those that are istiod's own in every working directory. */
  readonly own: readonly string[];
}

/**
 * Reads the files of a secret and checks them.
 *
 * @param held until when that holds what is served; a certificate that has expired does not take its place
 * @param now milliseconds since 1970
 * @returns the object that the files make, or that they can not be taken. That some are not there is no finding unless they
 *   were before: the proxies that need them may have them
 */
export function readSecret(
  places: CertificatePlaces,
  secret: FileSecret,
  held: number | undefined,
  now: number,
): ParsedDocument {
  const entries = Object.entries(entriesOf(secret));
  const data: Record<string, string> = {};
  for (const [entry, path] of entries) {
    const content = readBounded(places, path);
    if (content === undefined && held === undefined) return { ...refused(secret, path, ''), diagnostics: [] };
    if (content === undefined) return refused(secret, path, 'it is not there any more');
    if (typeof content === 'string') return refused(secret, path, content);
    if (content.length === 0) return refused(secret, path, 'it is empty: a text in PEM form is needed');
    data[entry] = Buffer.from(content).toString('base64');
  }
  const [main = ''] = pathsOf(secret);
  const until = validityOf(decodedText(data['tls.crt']))?.until;
  if (until !== undefined && until < now && held !== undefined && held >= now) {
    const message = `the certificate expired on ${day(until)}; the one before, which holds until ${day(held)}, stays`;
    return refused(secret, main, message);
  }
  const parsed = parseDocument(
    { raw: { file: main, line: 1, text: JSON.stringify({ data }) } },
    { source: CERTIFICATE_SOURCE, namespace: '', strict: false, whole: certificateFiles(secret.name) },
  );
  return placed(parsed, Object.fromEntries(entries));
}

/** Until when what a document holds is right; undefined when it holds nothing. */
export function heldUntil({ configs }: ParsedDocument): number | undefined {
  const data = (configs[0]?.spec as { readonly data?: Readonly<Record<string, string>> } | undefined)?.data;
  return validityOf(decodedText(data?.['tls.crt'] ?? data?.['ca.crt']))?.until;
}

/** @returns why it can not be read, or undefined when it is not there */
function readBounded({ root, own }: CertificatePlaces, path: string): Uint8Array | string | undefined {
  const absolute = resolve(root, path);
  try {
    if (isOwn(root, absolute, own))
      return 'it is a file of istiod itself, which is handed out to nobody: name another one';
    const content = fileContent(absolute, LIMITS.certificateBytes);
    const isLarge = content !== undefined && content.length > LIMITS.certificateBytes;
    return isLarge ? `it is larger than ${LIMITS.certificateBytes} bytes, which no certificate is` : content;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    const reason = systemReason(error);
    if (reason === undefined) throw error;
    return `it can not be read: ${reason}`;
  }
}

function isOwn(root: string, path: string, others: readonly string[]): boolean {
  const real = realpathSync(path);
  return [...OWN_FILES, ...others].some((own) => {
    const at = realOr(resolve(root, own));
    return real === at || real.startsWith(at + sep);
  });
}

function realOr(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function refused(secret: FileSecret, path: string, problem: string): ParsedDocument {
  const [main = ''] = pathsOf(secret);
  const location = { file: main, line: 1, column: 1 };
  return {
    raw: { file: main, line: 1, text: '' },
    configs: [],
    refused: [{ key: wholeFileKey(certificateFiles(secret.name)), location }],
    diagnostics: [finding(path, problem)],
  };
}

function finding(file: string, message: string): Diagnostic {
  return { severity: 'error', code: 'VM0501', location: { file, line: 1, column: 1 }, message };
}

/** The document with its places in the files instead of in the text that was made of them, which is forgotten. */
function placed(document: ParsedDocument, files: Readonly<Record<string, string>>): ParsedDocument {
  const { file } = document.raw;
  const raw = { file, line: 1, text: '' };
  const location = { file, line: 1, column: 1 };
  return {
    raw,
    configs: document.configs.map((config) => Object.freeze({ ...config, document: raw, location })),
    refused: document.refused.map(({ key }) => ({ ...(key !== undefined && { key }), location })),
    diagnostics: document.diagnostics.map(({ path = '', message }) => {
      const at = Object.entries(files).find(([entry]) => path.includes(`"${entry}"`))?.[1] ?? file;
      const others = Object.values(files).filter((path) => path !== at);
      return finding(at, others.length === 0 ? message : `${message} (beside it: ${others.join()})`);
    }),
  };
}

function day(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}
