import { Buffer } from 'node:buffer';
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import type { JsonObject } from '../../src/base/json.ts';

/** A key that an issuer signs tokens with. */
export class TokenKey {
  readonly id: string;
  readonly #private: KeyObject;
  readonly #public: KeyObject;

  constructor(id: string) {
    this.id = id;
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    this.#private = privateKey;
    this.#public = publicKey;
  }

  get jwk(): JsonObject {
    return { ...(this.#public.export({ format: 'jwk' }) as JsonObject), kid: this.id, alg: 'RS256', use: 'sig' };
  }

  /** A token with these claims, which holds for an hour unless they say otherwise. */
  token(claims: JsonObject): string {
    const now = Math.floor(Date.now() / 1000);
    const parts = [
      { alg: 'RS256', typ: 'JWT', kid: this.id },
      { iat: now, exp: now + 3600, ...claims },
    ];
    const text = parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
    return `${text}.${sign('sha256', Buffer.from(text), this.#private).toString('base64url')}`;
  }
}

/** Keys as a set in JSON. */
export function keySet(...keys: readonly TokenKey[]): string {
  return JSON.stringify({ keys: keys.map(({ jwk }) => jwk) });
}
