import { createPublicKey, type KeyObject } from 'node:crypto';
import { keyProblem, signatureProblem } from './algorithms.ts';
import { bitsOf, childrenOf, contentOf, contextTag, type Der, DerError, oidOf, readDer, TAG } from './der.ts';
import { pemBlock } from './pem.ts';
import { EXTENSION, extensionsOf, NAME } from './x509.ts';

/** A request for a certificate (PKCS #10) whose signature is right. What it says of names is only what it wishes. */
export interface CertificateRequest {
  /** A SubjectPublicKeyInfo in DER. */
  readonly publicKey: Uint8Array;
  readonly hasCommonName: boolean;
  /** Alternative names: `URI:spiffe://…`, `DNS:…`, and others by the number of their kind. */
  readonly names: readonly string[];
}

/** Why a request can not be taken, in words for who sent it. */
export class RequestError extends Error {
  override readonly name: string = 'RequestError';
}

/** Characters. One with an RSA key of 8192 bits has 3,000. */
const MOST_CHARACTERS = 16_384;
const MOST_NAMES = 64;

const EXTENSION_REQUEST = '1.2.840.113549.1.9.14';
const KINDS: Readonly<Record<number, string>> = { 1: 'email', 2: 'DNS', 6: 'URI' };

/**
 * Reads a request and checks its key and its signature.
 *
 * @param text in PEM
 * @throws RequestError
 */
export function readRequest(text: string): CertificateRequest {
  if (text.length > MOST_CHARACTERS) throw new RequestError(`it has more than ${MOST_CHARACTERS} characters`);
  const bytes = pemBlock(text, 'CERTIFICATE REQUEST', 'NEW CERTIFICATE REQUEST');
  if (bytes === undefined)
    throw new RequestError('it is no request in PEM form ("-----BEGIN CERTIFICATE REQUEST-----")');
  try {
    return checked(bytes);
  } catch (error) {
    if (error instanceof DerError) throw new RequestError(`it is damaged: ${error.message}`, { cause: error });
    throw error;
  }
}

function checked(bytes: Uint8Array): CertificateRequest {
  const [info, algorithm, signature, ...more] = childrenOf(readDer(bytes));
  const [version, subject, publicKey, attributes] = childrenOf(info);
  if (info === undefined || publicKey === undefined || more.length > 0) throw new DerError('parts are missing');
  contentOf(version, TAG.integer);
  const key = keyOf(publicKey.whole);
  const problem = keyProblem(key) ?? signatureProblem(key, algorithm, info.whole, bitsOf(signature));
  if (problem !== undefined) throw new RequestError(problem);
  return { publicKey: publicKey.whole, hasCommonName: hasCommonName(subject), names: namesIn(attributes) };
}

function keyOf(bytes: Uint8Array): KeyObject {
  try {
    return createPublicKey({ key: bytes as Buffer, format: 'der', type: 'spki' });
  } catch (error) {
    throw new RequestError('its public key can not be read', { cause: error });
  }
}

function hasCommonName(subject: Der | undefined): boolean {
  return childrenOf(subject)
    .flatMap((set) => childrenOf(set, TAG.set))
    .some((part) => {
      const [type, value] = childrenOf(part);
      return oidOf(type) === NAME.commonName && (value?.content.length ?? 0) > 0;
    });
}

function namesIn(attributes: Der | undefined): readonly string[] {
  if (attributes === undefined) return [];
  const requested = childrenOf(attributes, contextTag(0, true))
    .map((attribute) => childrenOf(attribute))
    .filter(([type]) => oidOf(type) === EXTENSION_REQUEST)
    .flatMap(([, values]) => childrenOf(values, TAG.set));
  return requested
    .flatMap(extensionsOf)
    .filter(({ id }) => id === EXTENSION.subjectAltName)
    .flatMap(({ value }) => childrenOf(readDer(value), TAG.sequence, MOST_NAMES))
    .map(({ tag, content }) => `${KINDS[tag & 0x1f] ?? tag & 0x1f}:${Buffer.from(content).toString('latin1')}`);
}
