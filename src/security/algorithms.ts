import type { Buffer } from 'node:buffer';
import { generateKeyPairSync, type KeyObject, sign, verify } from 'node:crypto';
import { childrenOf, type Der, der, oid, oidOf, sequence, TAG } from './der.ts';

interface Algorithm {
  readonly oid: string;
  /** Of Node; null where the algorithm hashes by itself. */
  readonly hash: string | null;
  readonly key: 'rsa' | 'ec' | 'ed25519';
}

const RSA_SHA256: Algorithm = { oid: '1.2.840.113549.1.1.11', hash: 'sha256', key: 'rsa' };
const ED25519: Algorithm = { oid: '1.3.101.112', hash: null, key: 'ed25519' };
const ECDSA: Readonly<Record<'sha256' | 'sha384' | 'sha512', Algorithm>> = {
  sha256: { oid: '1.2.840.10045.4.3.2', hash: 'sha256', key: 'ec' },
  sha384: { oid: '1.2.840.10045.4.3.3', hash: 'sha384', key: 'ec' },
  sha512: { oid: '1.2.840.10045.4.3.4', hash: 'sha512', key: 'ec' },
};

/** Signatures that are believed. SHA-1 is not. */
const BELIEVED: readonly Algorithm[] = [
  RSA_SHA256,
  { oid: '1.2.840.113549.1.1.12', hash: 'sha384', key: 'rsa' },
  { oid: '1.2.840.113549.1.1.13', hash: 'sha512', key: 'rsa' },
  ...Object.values(ECDSA),
  ED25519,
];

const LEAST_RSA_BITS = 2048;
const MOST_RSA_BITS = 8192;
const CURVES: Readonly<Record<string, Algorithm>> = {
  prime256v1: ECDSA.sha256,
  secp384r1: ECDSA.sha384,
  secp521r1: ECDSA.sha512,
};

/**
 * Why a key can be used neither in a certificate nor to sign one; undefined: it can.
 * @see istio/istio security/pkg/pki/util/generate_csr.go `MinimumRsaKeySize`
 */
export function keyProblem({ asymmetricKeyType, asymmetricKeyDetails = {} }: KeyObject): string | undefined {
  const { modulusLength = 0, namedCurve = '' } = asymmetricKeyDetails;
  if (asymmetricKeyType === 'ed25519') return undefined;
  if (asymmetricKeyType === 'ec')
    return namedCurve in CURVES ? undefined : `its curve is ${namedCurve}: take P-256, P-384 or P-521`;
  if (asymmetricKeyType !== 'rsa') return `its key is ${asymmetricKeyType}: take an elliptic curve (P-256), or RSA`;
  if (modulusLength < LEAST_RSA_BITS) return `its RSA key has ${modulusLength} bits: take ${LEAST_RSA_BITS} at least`;
  if (modulusLength > MOST_RSA_BITS) return `its RSA key has ${modulusLength} bits: take ${MOST_RSA_BITS} at most`;
  return undefined;
}

/** A private key of the kind that is made where nobody asks for another: P-256. */
export function newKey(): KeyObject {
  return generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey;
}

function algorithmOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): Algorithm {
  if (asymmetricKeyType === 'ed25519') return ED25519;
  return asymmetricKeyType === 'rsa' ? RSA_SHA256 : (CURVES[asymmetricKeyDetails?.namedCurve ?? ''] ?? ECDSA.sha256);
}

/** The signature of bytes, by the algorithm that `signatureAlgorithm` names. @param key one that has no problem */
export function signatureOf(key: KeyObject, bytes: Uint8Array): Buffer {
  return sign(algorithmOf(key).hash, bytes, key);
}

/** The AlgorithmIdentifier of what a key signs with. */
export function signatureAlgorithm(key: KeyObject): Buffer {
  const { oid: name, key: kind } = algorithmOf(key);
  return sequence(oid(name), ...(kind === 'rsa' ? [der(TAG.null)] : []));
}

/**
 * Whether a signature is right.
 * @param algorithm an AlgorithmIdentifier
 * @returns why not, in words; undefined: it is
 * @throws DerError
 */
export function signatureProblem(
  key: KeyObject,
  algorithm: Der | undefined,
  bytes: Uint8Array,
  value: Uint8Array,
): string | undefined {
  const name = oidOf(childrenOf(algorithm)[0]);
  const known = BELIEVED.find((one) => one.oid === name);
  if (known === undefined) return `it is signed by an algorithm (${name}) that is not believed: sign it with SHA-256`;
  if (known.key !== key.asymmetricKeyType) return 'it is signed by an algorithm that its key can not be of';
  return verify(known.hash, bytes, key, value) ? undefined : 'its signature is not of its key';
}
