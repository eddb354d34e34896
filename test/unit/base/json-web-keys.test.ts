import assert from 'node:assert/strict';
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { test } from 'node:test';
import type { JsonObject } from '../../../src/base/json.ts';
import { usableKeySet } from '../../../src/base/json-web-keys.ts';

const jwk = ({ publicKey }: { readonly publicKey: KeyObject }): JsonObject =>
  publicKey.export({ format: 'jwk' }) as JsonObject;
const rsa = jwk(generateKeyPairSync('rsa', { modulusLength: 2048 }));
const curve = (namedCurve: string): JsonObject => jwk(generateKeyPairSync('ec', { namedCurve }));
const ed25519 = jwk(generateKeyPairSync('ed25519'));

const isUsable = (...keys: readonly unknown[]): boolean => {
  const text = JSON.stringify({ keys });
  const usable = usableKeySet(text);
  assert.ok(usable === undefined || usable === text, 'what is usable stays as it is written');
  return usable !== undefined;
};

test('sets are usable that have a key which Envoy takes, whatever else they have', () => {
  for (const key of [
    rsa,
    { ...rsa, alg: 'PS512', kid: 'a', use: 'sig' },
    { ...rsa, alg: 'RSA-OAEP', use: 'enc' },
    { ...rsa, n: `${String(rsa['n'])}==` },
    ...['P-256', 'P-384', 'P-521'].map(curve),
    { ...curve('P-384'), alg: 'ES384' },
    ed25519,
    { ...ed25519, alg: 'EdDSA' },
    { kty: 'oct', k: 'AAAA', alg: 'HS256' },
  ]) {
    assert.ok(isUsable(key), JSON.stringify(key));
    assert.ok(isUsable(key, { kty: 'unknown' }, null));
  }
});

test('sets without one are not', () => {
  for (const keys of [
    [],
    ['text'],
    [{ kty: 'RSA', n: 'AQAB', e: 'AQAB' }],
    [{ ...rsa, e: 'Ag' }],
    [{ ...rsa, n: 'a+/b' }],
    [{ ...rsa, alg: 'ES256' }],
    [curve('secp256k1')],
    [{ ...curve('P-256'), alg: 'ES512' }],
    [{ ...curve('P-256'), x: 'AAAA' }],
    [jwk(generateKeyPairSync('x25519'))],
    [{ ...ed25519, x: 'AAAA' }],
    [{ kty: 'oct', k: 'AAAA', alg: 'A128KW' }],
  ]) {
    assert.ok(!isUsable(...keys), JSON.stringify(keys));
  }
  for (const text of ['', 'null', '[]', '{"keys": {}}', '{"kty": "RSA"}']) assert.equal(usableKeySet(text), undefined);
});

test('a single key becomes a set of one', () => {
  assert.deepEqual(JSON.parse(usableKeySet(JSON.stringify(rsa)) ?? ''), { keys: [rsa] });
});
