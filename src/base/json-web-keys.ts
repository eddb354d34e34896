import { createPublicKey, type KeyObject } from 'node:crypto';
import { isJsonObject, type JsonObject, parsedObject } from './json.ts';

const CURVES: Readonly<Record<string, string>> = { 'P-256': 'ES256', 'P-384': 'ES384', 'P-521': 'ES512' };
const LEAST_RSA_BITS = 512;
const ED25519_BYTES = 32;

/** Base64 for URLs, which may be padded. */
function isBase64Url(value: unknown): value is string {
  return typeof value === 'string' && /^[A-Za-z0-9_-]+={0,2}$/.test(value);
}

function publicKey(key: JsonObject): KeyObject | undefined {
  try {
    return createPublicKey({ key, format: 'jwk' });
  } catch {
    return undefined;
  }
}

function startsWith(alg: unknown, ...beginnings: readonly string[]): boolean {
  return typeof alg !== 'string' || alg === '' || beginnings.some((beginning) => alg.startsWith(beginning));
}

function isRsaKey(key: JsonObject): boolean {
  const { n, e, alg } = key;
  if (!isBase64Url(n) || !isBase64Url(e) || !startsWith(alg, 'RS', 'PS')) return false;
  const { modulusLength = 0, publicExponent = 0n } = publicKey({ kty: 'RSA', n, e })?.asymmetricKeyDetails ?? {};
  return modulusLength >= LEAST_RSA_BITS && publicExponent > 1n && publicExponent % 2n === 1n;
}

function isEllipticKey(key: JsonObject): boolean {
  const { crv, x, y, alg } = key;
  const ownAlg = typeof crv === 'string' ? CURVES[crv] : undefined;
  if (ownAlg === undefined || !isBase64Url(x) || !isBase64Url(y) || !startsWith(alg, ownAlg)) return false;
  return publicKey({ kty: 'EC', crv: crv as string, x, y }) !== undefined;
}

function isEdwardsKey({ crv, x, alg }: JsonObject): boolean {
  return (
    crv === 'Ed25519' &&
    isBase64Url(x) &&
    Buffer.from(x, 'base64url').length === ED25519_BYTES &&
    startsWith(alg, 'EdDSA')
  );
}

/** Whether Envoy takes the key. @see google/jwt_verify_lib src/jwks.cc `extractJwk` */
function isUsable(key: unknown): boolean {
  if (!isJsonObject(key)) return false;
  switch (key['kty']) {
    case 'RSA':
      return isRsaKey(key);
    case 'EC':
      return isEllipticKey(key);
    case 'OKP':
      return isEdwardsKey(key);
    case 'oct':
      return isBase64Url(key['k']) && startsWith(key['alg'], 'HS');
    default:
      return false;
  }
}

/**
 * A set of keys that Envoy takes: the text itself when some key of it is usable, or a set of one when it is a single key.
 *
 * @returns undefined for every other text: Envoy refuses a whole listener for a set without a usable key
 */
export function usableKeySet(text: string): string | undefined {
  const set = parsedObject(text);
  if (set === undefined) return undefined;
  const { keys } = set;
  if (keys === undefined) return isUsable(set) ? JSON.stringify({ keys: [set] }) : undefined;
  return Array.isArray(keys) && keys.some(isUsable) ? text : undefined;
}
