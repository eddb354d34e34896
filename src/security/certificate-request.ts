import { Buffer } from 'node:buffer';
import { newKey, signatureAlgorithm, signatureOf } from './algorithms.ts';
import { bitString, contextTag, der, integer, sequence } from './der.ts';
import { pem, privateKeyPem } from './pem.ts';
import { publicKeyOf } from './x509.ts';

/** A new key and a request for a certificate of it, in PEM. */
export interface NewRequest {
  /** PKCS #8. */
  readonly key: string;
  /** PKCS #10. It says no name: who asks is told by the connection, and the authority writes that. */
  readonly csr: string;
}

/** With a key of P-256. */
export function newCertificateRequest(): NewRequest {
  const key = newKey();
  const info = sequence(integer(Buffer.from([0])), sequence(), publicKeyOf(key), der(contextTag(0, true)));
  const request = sequence(info, signatureAlgorithm(key), bitString(signatureOf(key, info)));
  return {
    key: privateKeyPem(key),
    csr: pem('CERTIFICATE REQUEST', request),
  };
}
