import { createPrivateKey, type KeyObject, type X509Certificate } from 'node:crypto';
import { readCertificates } from '../base/certificate.ts';
import { keyProblem } from './algorithms.ts';
import { DerError } from './der.ts';
import type { Issuer } from './issuer.ts';
import { certificateParts } from './x509.ts';

/** The files of an authority that others have made. Paths relative to the working directory. */
export interface AuthorityFiles {
  readonly certificate: string;
  readonly key: string;
  readonly roots: string;
  /** Need not be there. */
  readonly chain: string;
}

/** Why files can not be used, what to do, and which it is about. */
export interface FileProblem {
  readonly file: string;
  readonly message: string;
}

/** Text of a file; undefined when there is none. @throws Error when it can not be read, in words */
export type ReadFile = (path: string) => string | undefined;

/** Istio's layout. */
export function istioLayout(directory: string): AuthorityFiles {
  const at = (name: string): string => `${directory}/${name}`;
  return {
    certificate: at('ca-cert.pem'),
    key: at('ca-key.pem'),
    roots: at('root-cert.pem'),
    chain: at('cert-chain.pem'),
  };
}

/** That of a Secret of type kubernetes.io/tls, as cert-manager makes it. */
export function tlsLayout(directory: string): AuthorityFiles {
  const at = (name: string): string => `${directory}/${name}`;
  return { certificate: at('tls.crt'), key: at('tls.key'), roots: at('ca.crt'), chain: at('tls.crt') };
}

class Wrong extends Error {
  readonly file: string;

  constructor(file: string, message: string) {
    super(message);
    this.file = file;
  }
}

/**
 * The authority of files, checked as a whole.
 *
 * @param now milliseconds since 1970
 * @returns undefined when neither its certificate nor its key is there
 */
export function readAuthority(files: AuthorityFiles, read: ReadFile, now: number): Issuer | FileProblem | undefined {
  try {
    const certificate = text(files.certificate, read);
    const key = text(files.key, read);
    if (certificate === undefined && key === undefined) return undefined;
    const roots = text(files.roots, read);
    const missing = Object.entries({ [files.certificate]: certificate, [files.key]: key, [files.roots]: roots });
    for (const [file, found] of missing) {
      if (found === undefined)
        throw new Wrong(file, 'it is missing beside the other files of the authority: put it there');
    }
    return checked(files, { certificate, key, roots, chain: text(files.chain, read) } as Texts, now);
  } catch (error) {
    if (error instanceof Wrong) return { file: error.file, message: error.message };
    throw error;
  }
}

interface Texts {
  readonly certificate: string;
  readonly key: string;
  readonly roots: string;
  readonly chain: string | undefined;
}

function text(file: string, read: ReadFile): string | undefined {
  try {
    return read(file);
  } catch (error) {
    throw new Wrong(file, error instanceof Error ? error.message : String(error));
  }
}

function checked(files: AuthorityFiles, texts: Texts, now: number): Issuer {
  const [certificate] = certificates(files.certificate, texts.certificate);
  const roots = certificates(files.roots, texts.roots);
  const between = texts.chain === undefined ? [] : certificates(files.chain, texts.chain);
  const key = privateKey(files.key, texts.key);
  if (certificate === undefined) throw new Wrong(files.certificate, 'it holds no certificate');
  if (!certificate.checkPrivateKey(key)) {
    throw new Wrong(
      files.key,
      `the key is not the one of the certificate in ${files.certificate}: put the two of one authority there`,
    );
  }
  const problem = keyProblem(key);
  if (problem !== undefined) throw new Wrong(files.key, problem);
  const path = pathToRoot(certificate, between, roots);
  if (path === undefined) {
    throw new Wrong(
      files.certificate,
      `no root in ${files.roots} has signed it, neither by itself nor by the certificates in ${files.chain}: put an authority there that such a root has signed, or its root into ${files.roots}`,
    );
  }
  for (const [i, one] of path.entries()) signs(files, one, i, now);
  const root = path.at(-1) ?? certificate;
  const below = path.filter((one) => one !== root);
  return {
    certificate,
    key,
    chain: below.map(String),
    roots: roots.map(String).join(''),
    until: endOf(path),
    chainUntil: endOf(below.length === 0 ? path : below),
    rootUntil: endOf(roots.slice(0, 1)),
  };
}

function endOf(certificates: readonly X509Certificate[]): number {
  return Math.min(...certificates.map(({ validToDate }) => validToDate.getTime()));
}

function certificates(file: string, pem: string): readonly X509Certificate[] {
  const found = readCertificates(pem);
  if (typeof found === 'string') throw new Wrong(file, found);
  return found;
}

function privateKey(file: string, pem: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch {
    const isLocked = /ENCRYPTED/.test(pem);
    const why = isLocked
      ? 'the key is encrypted with a passphrase: write it without one'
      : 'it holds no private key in PEM form';
    throw new Wrong(file, why);
  }
}

/** More authorities than this do not follow one another. */
const LONGEST_PATH = 8;

/** From a certificate to a root, both with it; a root by itself is a path. Certificates of a root's key count as the root. */
function pathToRoot(
  certificate: X509Certificate,
  between: readonly X509Certificate[],
  roots: readonly X509Certificate[],
): readonly X509Certificate[] | undefined {
  const ways: (readonly X509Certificate[])[] = [[certificate]];
  for (let way = ways.shift(); way !== undefined; way = ways.shift()) {
    const last = way.at(-1) ?? certificate;
    const known = roots.find((root) => root.fingerprint256 === last.fingerprint256);
    if (known !== undefined) return way;
    const root = latest(roots.filter((one) => hasSigned(one, last)));
    if (root !== undefined) return [...way, root];
    if (way.length === LONGEST_PATH) continue;
    const next = between.filter((one) => !way.includes(one) && hasSigned(one, last));
    ways.push(...next.map((one) => [...way, one]));
  }
  return undefined;
}

function latest(certificates: readonly X509Certificate[]): X509Certificate | undefined {
  return [...certificates].sort((a, b) => b.validToDate.getTime() - a.validToDate.getTime())[0];
}

function hasSigned(issuer: X509Certificate, certificate: X509Certificate): boolean {
  return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}

/** @param below how many authorities follow below it @throws Wrong */
function signs(files: AuthorityFiles, certificate: X509Certificate, below: number, now: number): void {
  const which = below === 0 ? 'it' : `the certificate of ${certificate.subject.replaceAll('\n', ', ')} above it`;
  const wrong = (why: string): never => {
    throw new Wrong(files.certificate, why);
  };
  const { isAuthority, maySign, pathLength } = partsOf(files.certificate, certificate);
  if (!isAuthority)
    wrong(
      `${which} is no certificate of an authority (basicConstraints CA:TRUE), so that nobody believes what it signs`,
    );
  if (!maySign) wrong(`${which} may not sign certificates (keyUsage keyCertSign)`);
  if (pathLength !== undefined && pathLength < below)
    wrong(`${which} allows ${pathLength} authorities below it, and there are ${below}`);
  const { validFromDate, validToDate } = certificate;
  if (validToDate.getTime() <= now) wrong(`${which} expired on ${validToDate.toISOString()}: put a new one there`);
  if (validFromDate.getTime() > now) wrong(`${which} does not hold before ${validFromDate.toISOString()}`);
}

function partsOf(file: string, certificate: X509Certificate): ReturnType<typeof certificateParts> {
  try {
    return certificateParts(certificate.raw);
  } catch (error) {
    if (error instanceof DerError) throw new Wrong(file, `it can not be read: ${error.message}`);
    throw error;
  }
}
