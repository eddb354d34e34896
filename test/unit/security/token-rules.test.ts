import assert from 'node:assert/strict';
import { createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import type { JsonObject } from '../../../src/base/json.ts';
import { type TokenRule, tokenVerdict } from '../../../src/security/token-rules.ts';
import { runs } from '../../support/runs.ts';

const NOW = 1_800_000_000;
const ISSUER = 'https://issuer.example';
const CLAIMS = { iss: ISSUER, aud: ['istio-ca', 'other'], exp: NOW + 60, sub: 'system:serviceaccount:shop:client' };
const SHOP = { namespace: 'shop', serviceAccount: 'client' };

interface Key {
  readonly alg: string;
  readonly privateKey: KeyObject;
  readonly jwk: JsonObject;
}

function key(alg: string, kid: string): Key {
  const { privateKey, publicKey } = /^[RP]S/.test(alg)
    ? generateKeyPairSync('rsa', { modulusLength: 2048 })
    : alg === 'EdDSA'
      ? generateKeyPairSync('ed25519')
      : generateKeyPairSync('ec', { namedCurve: `P-${alg === 'ES512' ? 521 : alg.slice(2)}` });
  return { alg, privateKey, jwk: { ...(publicKey.export({ format: 'jwk' }) as JsonObject), kid } };
}

function encoded(...parts: readonly object[]): string {
  return parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
}

function token({ alg, privateKey, jwk }: Key, claims: JsonObject = CLAIMS, header: JsonObject = {}): string {
  const text = encoded({ alg, kid: jwk['kid'], ...header }, claims);
  const hash = alg === 'EdDSA' ? null : `sha${alg.slice(2)}`;
  const pss = alg.startsWith('PS') ? { padding: 6, saltLength: -1 } : {};
  const signature = sign(hash, Buffer.from(text), { key: privateKey, dsaEncoding: 'ieee-p1363', ...pss });
  return `${text}.${signature.toString('base64url')}`;
}

function rule(...keys: readonly Key[]): TokenRule {
  const current = JSON.stringify({ keys: keys.map(({ jwk }) => jwk) });
  return { issuer: ISSUER, audiences: ['istio-ca'], keys: { current: () => current, renew: async () => {} } };
}

const RSA = key('RS256', 'first');
const EC = key('ES256', 'second');
const RULE = rule(RSA, EC);
const verdict = (text: string, one: TokenRule = RULE) => tokenVerdict(text, [one], NOW);

test('tokens are taken with each kind of signature that proves something', async () => {
  for (const alg of ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA']) {
    const own = key(alg, 'own');
    assert.deepEqual(await verdict(token(own), rule(own, RSA)), SHOP, alg);
    assert.deepEqual(
      await verdict(token(own), rule(RSA, EC)),
      { problem: 'it is not signed by a key of its issuer' },
      alg,
    );
  }
});

test('a token without a signature, or with one that anybody can make, is nobody’s', async () => {
  const none = `${encoded({ alg: 'none' }, CLAIMS)}.AA`;
  const text = encoded({ alg: 'HS256', kid: 'first' }, CLAIMS);
  const spki = RSA.jwk['n'] as string;
  const shared = `${text}.${createHmac('sha256', spki).update(text).digest('base64url')}`;
  const otherKind = token(EC, CLAIMS, { alg: 'RS256' });
  for (const one of [none, shared, otherKind, token(key('RS256', 'first'))]) {
    assert.deepEqual(await verdict(one), { problem: 'it is not signed by a key of its issuer' });
  }
});

test('what a token says has to be right', async () => {
  const cases: readonly [JsonObject, RegExp][] = [
    [{ exp: NOW }, /it has expired/],
    [{ exp: 'never' }, /it never expires/],
    [{ nbf: NOW + 1000 }, /does not hold yet/],
    [{ aud: 'another' }, /for none of the audiences istio-ca/],
    [{ aud: [] }, /for none of the audiences/],
    [{ sub: 'system:serviceaccount:shop' }, /its subject is neither/],
    [{ sub: 'system:serviceaccount:shop:client:more' }, /its subject is neither/],
    [{ sub: 'system:serviceaccount:a/ns/b:client' }, /its subject is neither/],
    [{ sub: 'spiffe://mesh.example/ns/a b/sa/client' }, /its subject is neither/],
    [{ sub: 'client' }, /its subject is neither/],
    [{ sub: 7 }, /its subject is neither/],
  ];
  for (const [claims, problem] of cases) {
    const found = await verdict(token(RSA, { ...CLAIMS, ...claims }));
    assert.match((found as { readonly problem: string }).problem, problem, JSON.stringify(claims));
  }
  assert.equal(await verdict(token(RSA, { ...CLAIMS, iss: 'https://other.example' })), undefined);
  const spiffe = token(EC, { ...CLAIMS, aud: 'istio-ca', sub: 'spiffe://mesh.example/ns/shop/sa/client' });
  assert.deepEqual(await verdict(spiffe), { ...SHOP, trustDomain: 'mesh.example' });
});

test('a key that is new is looked for once', async () => {
  const next = key('ES256', 'next');
  let keys: readonly Key[] = [RSA];
  let renewed = 0;
  const current = () => JSON.stringify({ keys: keys.map(({ jwk }) => jwk) });
  const renew = async (): Promise<void> => {
    renewed++;
    keys = [RSA, next];
  };
  const moving: TokenRule = { ...RULE, keys: { current, renew } };
  assert.deepEqual(await verdict(token(RSA), moving), SHOP);
  assert.equal(renewed, 0);
  assert.deepEqual(await verdict(token(next), moving), SHOP);
  assert.equal(renewed, 1);
  const without: TokenRule = { ...RULE, keys: { current: () => undefined, renew: async () => {} } };
  assert.deepEqual(await verdict(token(RSA), without), { problem: 'the keys of its issuer can not be had' });
});

test('a token of which any character was changed is nobody’s', async () => {
  const text = token(EC);
  await fc.assert(
    fc.asyncProperty(fc.nat(text.length - 2), fc.constantFrom('A', 'z', '0', '.', '-'), async (at, character) => {
      const changed = text.slice(0, at) + character + text.slice(at + 1);
      const found = await verdict(changed);
      if (changed !== text) assert.ok(found === undefined || 'problem' in found, changed);
    }),
    { numRuns: runs(300) },
  );
});
