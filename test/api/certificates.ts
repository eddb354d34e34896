import { TestAuthority } from '../support/certificates.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** A mesh with certificates that can be read in the place of the words CERTIFICATE, PRIVATE_KEY and ROOTS. */
export function withCertificates(text: string, directory: string): string {
  if (!text.includes('CERTIFICATE')) return text;
  const authority = new TestAuthority(directory);
  const { chain, key } = authority.issue('DNS:x.a.test');
  return text
    .replace('CERTIFICATE', base64(chain))
    .replace('PRIVATE_KEY', base64(key))
    .replaceAll(/^ROOTS$/gm, authority.root.trimEnd().replaceAll(/^/gm, '    '));
}
