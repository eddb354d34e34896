import type { KeyObject, X509Certificate } from 'node:crypto';
import { pem } from './pem.ts';
import { certificateParts, distinguishedName, type SubjectName, signedCertificate } from './x509.ts';

/** What signs certificates: a certificate of an authority with its key, and how it is verified. */
export interface Issuer {
  readonly certificate: X509Certificate;
  readonly key: KeyObject;
  /** In PEM, from the signing certificate to the last below the root; none when that is a root itself. */
  readonly chain: readonly string[];
  /** Roots that are trusted, in PEM, in one text. */
  readonly roots: string;
  /** Until when all of the chain and its root hold. Milliseconds since 1970. */
  readonly until: number;
  /** The same of the chain, or of the root where there is none, and of the first root. */
  readonly chainUntil: number;
  readonly rootUntil: number;
}

export interface LeafRequest {
  /** A SubjectPublicKeyInfo in DER. */
  readonly publicKey: Uint8Array;
  /** One at least. */
  readonly names: readonly SubjectName[];
  /** Names a subject besides, for old clients. */
  readonly withCommonName?: boolean;
  /** Milliseconds. */
  readonly ttlMs: number;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** For so long a certificate holds before it is made, for clocks that are late. Milliseconds. */
export const CLOCK_SKEW_MS: number = 2 * 60_000;
/** Characters of a common name. RFC 5280, `ub-common-name`. */
const MOST_OF_COMMON_NAME = 64;

/**
 * A certificate for a workload or a server, in PEM. It ends when its issuer does, at the latest.
 * @param issuer one that holds
 */
export function leafCertificate(issuer: Issuer, request: LeafRequest): string {
  const { publicKey, names, withCommonName = false, ttlMs, now } = request;
  const { subject, keyId } = certificateParts(issuer.certificate.raw);
  const [first] = names.map((name) => Object.values(name)[0] ?? '');
  const isShort = first !== undefined && first.length <= MOST_OF_COMMON_NAME;
  return pem(
    'CERTIFICATE',
    signedCertificate({
      signer: { name: subject, key: issuer.key, keyId },
      subject: distinguishedName(withCommonName && isShort ? { commonName: first } : {}),
      publicKey,
      from: now - CLOCK_SKEW_MS,
      until: Math.min(now + ttlMs, issuer.until),
      isAuthority: false,
      names,
    }),
  );
}
