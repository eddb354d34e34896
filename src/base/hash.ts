import { hash } from 'node:crypto';

/** A short name for content: 96 bits of SHA-256 in base64url, the same for the same bytes on every machine and in every run. */
export function contentVersion(content: string | Uint8Array): string {
  return hash('sha256', content, 'base64url').slice(0, 16);
}
