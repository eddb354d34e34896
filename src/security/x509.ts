import { Buffer } from 'node:buffer';
import { createHash, createPublicKey, type KeyObject, randomBytes } from 'node:crypto';
import { addressBytes } from '../base/cidr.ts';
import { signatureAlgorithm, signatureOf } from './algorithms.ts';
import {
  bitString,
  bitsOf,
  childrenOf,
  contentOf,
  contextTag,
  type Der,
  DerError,
  der,
  integer,
  oid,
  oidOf,
  readDer,
  sequence,
  TAG,
  TRUE,
  time,
  utf8String,
} from './der.ts';

/** A name that a certificate is for. */
export type SubjectName = { readonly uri: string } | { readonly dns: string } | { readonly ip: string };

/** Who signs. */
export interface Signer {
  /** A Name in DER, as it stands in the signer's own certificate. */
  readonly name: Uint8Array;
  readonly key: KeyObject;
  /** The subject key identifier of the signer's certificate; undefined when it has none. */
  readonly keyId: Uint8Array | undefined;
}

export interface CertificateTemplate {
  readonly signer: Signer;
  /** A Name in DER. */
  readonly subject: Uint8Array;
  /** A SubjectPublicKeyInfo in DER. */
  readonly publicKey: Uint8Array;
  /** Milliseconds since 1970, cut to seconds. */
  readonly from: number;
  readonly until: number;
  /** Signs certificates itself. */
  readonly isAuthority: boolean;
  readonly names: readonly SubjectName[];
}

export const EXTENSION = {
  subjectKeyId: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyId: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
} as const;

/** Parts of a Name. */
export const NAME = { commonName: '2.5.4.3', organization: '2.5.4.10' } as const;
const SERVER_AUTH = '1.3.6.1.5.5.7.3.1';
const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2';

/** A Name of these parts; the empty one when there is none. */
export function distinguishedName(parts: Partial<Record<keyof typeof NAME, string>>): Buffer {
  return sequence(
    ...(['organization', 'commonName'] as const).flatMap((type) => {
      const text = parts[type];
      return text ? [der(TAG.set, sequence(oid(NAME[type]), utf8String(text)))] : [];
    }),
  );
}

/** RFC 5280 section 4.2.1.2, method 1. @param publicKey a SubjectPublicKeyInfo in DER */
export function keyIdOf(publicKey: Uint8Array): Buffer {
  const bits = bitsOf(childrenOf(readDer(publicKey))[1]);
  return createHash('sha1').update(bits).digest();
}

/**
 * A signed certificate in DER, with a random serial number of 127 bits.
 *
 * @see RFC 5280 section 4.1, the SPIFFE X.509-SVID standard, and istio/istio security/pkg/pki/util/generate_cert.go
 */
export function signedCertificate(template: CertificateTemplate): Buffer {
  const { signer, subject, publicKey, from, until } = template;
  const algorithm = signatureAlgorithm(signer.key);
  const body = sequence(
    der(contextTag(0, true), integer(Buffer.from([2]))),
    integer(serialNumber()),
    algorithm,
    signer.name,
    sequence(time(from), time(until)),
    subject,
    publicKey,
    der(contextTag(3, true), sequence(...extensions(template))),
  );
  return sequence(body, algorithm, bitString(signatureOf(signer.key, body)));
}

/** Neither zero nor negative. */
function serialNumber(): Buffer {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return bytes;
}

function extensions({ isAuthority, names, publicKey, signer, subject }: CertificateTemplate): readonly Buffer[] {
  const isNameless = subject.length === 2;
  return [
    // keyCertSign and cRLSign, or digitalSignature and keyEncipherment.
    extension(
      EXTENSION.keyUsage,
      true,
      isAuthority ? bitString(Buffer.from([0x06]), 1) : bitString(Buffer.from([0xa0]), 5),
    ),
    ...(isAuthority
      ? []
      : [extension(EXTENSION.extendedKeyUsage, false, sequence(oid(SERVER_AUTH), oid(CLIENT_AUTH)))]),
    extension(EXTENSION.basicConstraints, true, isAuthority ? sequence(TRUE) : sequence()),
    extension(EXTENSION.subjectKeyId, false, der(TAG.octetString, keyIdOf(publicKey))),
    ...(signer.keyId === undefined
      ? []
      : [extension(EXTENSION.authorityKeyId, false, sequence(der(contextTag(0, false), signer.keyId)))]),
    ...(names.length === 0
      ? []
      : [extension(EXTENSION.subjectAltName, isNameless, sequence(...names.map(generalName)))]),
  ];
}

function extension(id: string, isCritical: boolean, value: Buffer): Buffer {
  return sequence(oid(id), ...(isCritical ? [TRUE] : []), der(TAG.octetString, value));
}

function generalName(name: SubjectName): Buffer {
  if ('uri' in name) return der(contextTag(6, false), Buffer.from(name.uri, 'latin1'));
  if ('dns' in name) return der(contextTag(2, false), Buffer.from(name.dns, 'latin1'));
  return der(contextTag(7, false), Buffer.from(addressBytes(name.ip)));
}

/** What is read of a certificate beside what Node tells. */
export interface CertificateParts {
  /** A Name in DER. */
  readonly subject: Uint8Array;
  readonly keyId: Uint8Array | undefined;
  readonly isAuthority: boolean;
  /** How many authorities may follow below it; undefined: any number. */
  readonly pathLength: number | undefined;
  /** Whether it may sign certificates, as far as it says what it is for. */
  readonly maySign: boolean;
}

/** @param certificate in DER @throws DerError */
export function certificateParts(certificate: Uint8Array): CertificateParts {
  const fields = childrenOf(childrenOf(readDer(certificate))[0]);
  const start = fields[0]?.tag === contextTag(0, true) ? 1 : 0;
  const subject = fields[start + 4];
  if (subject?.tag !== TAG.sequence) throw new DerError('a certificate has no subject');
  const found = fields.find(({ tag }) => tag === contextTag(3, true));
  const list = found === undefined ? [] : extensionsOf(childrenOf(found, contextTag(3, true))[0]);
  const value = (id: string): Der | undefined => {
    const bytes = list.find((one) => one.id === id)?.value;
    return bytes && readDer(bytes);
  };
  const keyId = value(EXTENSION.subjectKeyId);
  const constraints = value(EXTENSION.basicConstraints);
  const limits = constraints === undefined ? [] : childrenOf(constraints);
  const isAuthority = limits[0]?.tag === TAG.boolean && limits[0].content[0] !== 0;
  const length = limits.find(({ tag }) => tag === TAG.integer)?.content;
  const usage = value(EXTENSION.keyUsage);
  return {
    subject: subject.whole,
    keyId: keyId && contentOf(keyId, TAG.octetString),
    isAuthority,
    pathLength: length?.reduce((sum, byte) => sum * 256 + byte, 0),
    maySign: usage === undefined || ((contentOf(usage, TAG.bitString)[1] ?? 0) & 0x04) !== 0,
  };
}

/** The extensions of a certificate or a request. @throws DerError */
export function extensionsOf(list: Der | undefined): readonly { readonly id: string; readonly value: Uint8Array }[] {
  return childrenOf(list).map((one) => {
    const parts = childrenOf(one);
    return { id: oidOf(parts[0]), value: contentOf(parts.at(-1), TAG.octetString) };
  });
}

/** The SubjectPublicKeyInfo of a key, in DER. @param key private or public */
export function publicKeyOf(key: KeyObject): Buffer {
  return (key.type === 'private' ? createPublicKey(key) : key).export({ type: 'spki', format: 'der' });
}
