import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { Authenticator } from '../../../src/security/authenticator.ts';

const TOKEN = 'a-token-of-more-than-32-characters-0123456789';
const NOW = Date.parse('2026-01-01T00:00:00Z');

function joinToken(token: string, serviceAccount: string, expires = NOW + 1) {
  return { sha256: createHash('sha256').update(token).digest('hex'), namespace: 'shop', serviceAccount, expires };
}

const authenticator = new Authenticator({
  trustDomains: () => ({ own: 'new.example', aliases: ['old.example'] }),
  joinTokens: () => [
    joinToken('another-token-of-more-than-32-characters', 'other'),
    joinToken(TOKEN, 'client'),
    joinToken('short', 'short'),
    joinToken(`${TOKEN}-past`, 'past', NOW),
  ],
  tokenRules: [],
  now: () => NOW,
});

function identified(uris: readonly string[], token?: string): string {
  const found = authenticator.authenticate({ uris, token });
  assert.ok(!(found instanceof Promise), 'nothing has to be fetched');
  const { identities, problem } = found;
  return problem ?? identities.join();
}

test('a certificate of the trust domain or of an alias is its workload; one of another domain is nobody', () => {
  assert.equal(identified(['spiffe://new.example/ns/shop/sa/client']), 'spiffe://new.example/ns/shop/sa/client');
  assert.equal(identified(['spiffe://old.example/ns/shop/sa/client']), 'spiffe://new.example/ns/shop/sa/client');
  for (const uri of [
    'spiffe://third.example/ns/shop/sa/client',
    'spiffe://cluster.local/ns/shop/sa/client',
    'spiffe://new.example/ns/shop/sa/client/more',
    'spiffe://new.example/shop/client',
    'spiffe://new.example/ns/shop/sa/cli%00ent',
    'spiffe://new.example/ns/shop/sa/client,URI:spiffe://new.example/ns/root/sa/admin',
    'https://new.example/ns/shop/sa/client',
  ]) {
    assert.match(identified([uri]), /is no workload of the trust domain new\.example/, uri);
  }
});

test('a join token is its workload until it expires', () => {
  assert.equal(identified([], TOKEN), 'spiffe://new.example/ns/shop/sa/client');
  for (const token of [`${TOKEN}-past`, `${TOKEN}x`, TOKEN.slice(1), 'short', '', 'x'.repeat(5000)]) {
    assert.equal(identified([], token), 'its token is unknown, or has expired', token);
  }
});

test('a certificate counts before a token, and a token where the certificate is of nobody', () => {
  assert.match(identified(['spiffe://old.example/ns/shop/sa/first'], TOKEN), /sa\/first$/);
  assert.match(identified(['spiffe://third.example/ns/shop/sa/first'], TOKEN), /sa\/client$/);
  assert.equal(identified([]), '');
});
