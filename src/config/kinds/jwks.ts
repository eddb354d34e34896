import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { usableKeySet } from '../../base/json-web-keys.ts';
import type { Finding, Place } from '../finding.ts';

/** Fields that a public key needs, by its type. @see RFC 7517, RFC 7518 section 6, RFC 8037 */
const REQUIRED: Readonly<Record<string, readonly string[]>> = {
  RSA: ['n', 'e'],
  EC: ['crv', 'x', 'y'],
  OKP: ['crv', 'x'],
  oct: ['k'],
};

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function keyProblem(key: unknown): string | undefined {
  if (!isJsonObject(key)) return 'a key must be an object';
  const { kty } = key;
  const required = typeof kty === 'string' ? REQUIRED[kty] : undefined;
  if (required === undefined) return `a key needs "kty", one of ${Object.keys(REQUIRED).join(', ')}`;
  const missing = required.find((name) => typeof key[name] !== 'string' || key[name] === '');
  return missing === undefined ? undefined : `a key of type ${String(kty)} needs "${missing}"`;
}

function isPrivate(key: JsonObject): boolean {
  return key['kty'] === 'oct' || key['d'] !== undefined;
}

/** Keys written in a policy: a set (`{"keys": [...]}`) or one key, in JSON. */
export function* jwksFindings(at: Place, jwks: string): Generator<Finding> {
  const value = parsed(jwks);
  if (!isJsonObject(value)) {
    yield at.error('jwks is not a set of keys in JSON: write {"keys": [...]}, or the URL of one in jwksUri');
    return;
  }
  const keys = Array.isArray(value['keys']) ? value['keys'] : [value];
  let isRight = true;
  for (const [i, key] of keys.entries()) {
    const wrong = keyProblem(key);
    if (wrong !== undefined) {
      isRight = false;
      yield at.error(`jwks, key ${i}: ${wrong}`);
    } else if (isPrivate(key)) yield at.warning(`jwks, key ${i} is private: put only its public part here`);
  }
  if (isRight && usableKeySet(jwks) === undefined) {
    yield at.warning(
      'jwks has no key that Envoy can use (RSA, EC of P-256, P-384 or P-521, Ed25519, oct): no token is accepted',
    );
  }
}
