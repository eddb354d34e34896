import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;

function firstCertificate(pem: string): X509Certificate | undefined {
  for (const [block] of pem.matchAll(CERTIFICATE)) {
    try {
      return new X509Certificate(block);
    } catch {
      // Another block may be one.
    }
  }
  return undefined;
}

/** Why texts are no certificate with its private key, in PEM; undefined: they are. The message holds nothing of them. */
export function keyPairProblem(certificate: string, privateKey: string): string | undefined {
  const found = firstCertificate(certificate);
  if (found === undefined) return 'the certificate is not in PEM';
  let key: KeyObject;
  try {
    key = createPrivateKey(privateKey);
  } catch {
    return 'the private key is not in PEM, or needs a passphrase';
  }
  return found.checkPrivateKey(key) ? undefined : 'the private key is not that of the certificate';
}

/** Whether a text holds a certificate in PEM. */
export function hasCertificate(pem: string): boolean {
  return firstCertificate(pem) !== undefined;
}
