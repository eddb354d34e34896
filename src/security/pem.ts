import { Buffer } from 'node:buffer';
import type { KeyObject } from 'node:crypto';

/** A value in PEM, its lines as long as openssl's, with a line break at its end. */
export function pem(label: string, der: Uint8Array): string {
  const lines =
    Buffer.from(der)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}

/** PKCS #8, not encrypted. */
export function privateKeyPem(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }) as string;
}

/** The first block of one of the labels; undefined when there is none. */
export function pemBlock(text: string, ...labels: readonly string[]): Buffer | undefined {
  for (const label of labels) {
    const begin = `-----BEGIN ${label}-----`;
    const start = text.indexOf(begin);
    const end = start < 0 ? -1 : text.indexOf(`-----END ${label}-----`, start);
    if (end < 0) continue;
    const body = text.slice(start + begin.length, end).replace(/\s+/g, '');
    return /^[A-Za-z0-9+/]+={0,2}$/.test(body) ? Buffer.from(body, 'base64') : undefined;
  }
  return undefined;
}
