import { Buffer } from 'node:buffer';
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';

/** What is wrong with certificates or a key, in words; never with a part of them. */
export type CertificateProblem = string;

/** A block of a PEM file. */
const BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----[^-]*-----END \1-----/g;

function blocks(pem: string, isWanted: (label: string) => boolean): readonly string[] {
  return [...pem.matchAll(BLOCK)].flatMap(([block, label = '']) => (isWanted(label) ? [block] : []));
}

const isCertificate = (label: string): boolean => label === 'CERTIFICATE' || label === 'TRUSTED CERTIFICATE';
const isKey = (label: string): boolean => label.endsWith('PRIVATE KEY');

/** The certificates of a PEM text, in order, or what is wrong with it. */
export function readCertificates(pem: string): readonly X509Certificate[] | CertificateProblem {
  const found = blocks(pem, isCertificate);
  if (found.length === 0) {
    return pem.trim() === ''
      ? 'it is empty: a certificate in PEM form is needed'
      : 'it holds no certificate in PEM form ("-----BEGIN CERTIFICATE-----" to "-----END CERTIFICATE-----")';
  }
  const certificates: X509Certificate[] = [];
  for (const [i, block] of found.entries()) {
    try {
      certificates.push(new X509Certificate(block));
    } catch {
      const which = found.length === 1 ? 'its certificate' : `the certificate number ${i + 1} in it`;
      return `${which} can not be read: it is cut off or damaged`;
    }
  }
  return certificates;
}

/** The certificates of a PEM text, in order; none where one of them can not be read, or there are none. */
export function certificatesIn(pem: string): readonly X509Certificate[] {
  const read = readCertificates(pem);
  return typeof read === 'string' ? [] : read;
}

function readKey(pem: string): KeyObject | CertificateProblem {
  const [block] = blocks(pem, isKey);
  if (block === undefined) {
    return pem.trim() === ''
      ? 'it is empty: a private key in PEM form is needed'
      : 'it holds no private key in PEM form ("-----BEGIN PRIVATE KEY-----")';
  }
  if (/ENCRYPTED/.test(block)) return 'its private key is encrypted with a passphrase: write it without one';
  try {
    return createPrivateKey(block);
  } catch {
    return 'its private key can not be read: it is cut off or damaged';
  }
}

/** What is wrong with a pair of a certificate chain and its key, and with which of the two. */
export interface PairProblem {
  readonly part: 'certificate' | 'privateKey';
  readonly problem: CertificateProblem;
  /** Each is right by itself: the files may be in the middle of being replaced. */
  readonly isMismatch: boolean;
}

/**
 * Whether a certificate and a private key, in PEM, belong together; the leaf comes first in the chain.
 * @returns undefined when they do
 */
export function pairProblem(certificate: string, privateKey: string): PairProblem | undefined {
  const chain = readCertificates(certificate);
  if (typeof chain === 'string') return { part: 'certificate', problem: chain, isMismatch: false };
  const key = readKey(privateKey);
  if (typeof key === 'string') return { part: 'privateKey', problem: key, isMismatch: false };
  if (chain[0]?.checkPrivateKey(key)) return undefined;
  const isElsewhere = chain.some((one) => one.checkPrivateKey(key));
  const problem = isElsewhere
    ? 'the certificate of the private key is not the first in the chain: put it before those of the authorities'
    : 'the certificate and the private key do not belong together: the certificate is for another key';
  return { part: 'certificate', problem, isMismatch: !isElsewhere };
}

/** What is wrong with certificates of authorities, in PEM; undefined: nothing. */
export function rootsProblem(roots: string): CertificateProblem | undefined {
  const read = readCertificates(roots);
  return typeof read === 'string' ? read : undefined;
}

/** What is wrong with a list of revoked certificates, in PEM; undefined: nothing. */
export function revocationsProblem(list: string): CertificateProblem | undefined {
  return blocks(list, (label) => label === 'X509 CRL').length > 0
    ? undefined
    : 'it holds no list of revoked certificates in PEM form ("-----BEGIN X509 CRL-----")';
}

const LEAST_RSA_BITS = 2048;
/** P-256, P-384 and P-521 as OpenSSL calls them. */
const CURVES: ReadonlySet<string> = new Set(['prime256v1', 'secp384r1', 'secp521r1']);

/**
 * Why Envoy does not take the key of the first certificate; undefined when it does, or when there is none.
 * @see envoyproxy/envoy source/common/tls/context_impl.cc
 */
export function weakKey(pem: string): string | undefined {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details = {} } = certificatesIn(pem)[0]?.publicKey ?? {};
  const { modulusLength = LEAST_RSA_BITS, namedCurve = '' } = details;
  if (type === 'rsa' && modulusLength < LEAST_RSA_BITS)
    return `its RSA key has ${modulusLength} bits, and Envoy takes ${LEAST_RSA_BITS} or more`;
  if (type === 'ec' && !CURVES.has(namedCurve))
    return `its key is on the curve ${namedCurve}, and Envoy takes P-256, P-384 and P-521`;
  return undefined;
}

/** From when to when all certificates of a chain hold, in milliseconds since 1970; undefined when it can not be read. */
export function validityOf(pem: string): { readonly from: number; readonly until: number } | undefined {
  const chain = readCertificates(pem);
  if (typeof chain === 'string') return undefined;
  return {
    from: Math.max(...chain.map(({ validFromDate }) => validFromDate.getTime())),
    until: Math.min(...chain.map(({ validToDate }) => validToDate.getTime())),
  };
}

/** The text that stands in base64. */
export function decodedText(base64: string | undefined): string {
  return Buffer.from(base64 ?? '', 'base64').toString('latin1');
}
