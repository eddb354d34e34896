import assert from 'node:assert/strict';
import { test } from 'node:test';
import { principalsOfTrustDomains } from '../../../../src/envoy/filters/trust-domains.ts';

const DOMAINS = ['new.example', 'old.example'];

const CASES: readonly (readonly [string, string, readonly string[]])[] = [
  [
    'the local domain stands for the domain of the mesh and its aliases',
    'cluster.local/ns/shop/sa/web',
    ['new.example/ns/shop/sa/web', 'old.example/ns/shop/sa/web'],
  ],
  [
    'an alias stands for the other domains, too',
    'old.example/ns/shop/sa/web',
    ['new.example/ns/shop/sa/web', 'old.example/ns/shop/sa/web'],
  ],
  [
    'what ends with a wildcard is of every domain',
    'cluster.local/ns/shop/*',
    ['new.example/ns/shop/*', 'old.example/ns/shop/*'],
  ],
  ['a foreign domain stays as it is', 'third.example/ns/shop/sa/web', ['third.example/ns/shop/sa/web']],
  ['anybody stays anybody', '*', ['*']],
  ['any domain stays any domain', '*/ns/shop/sa/web', ['*/ns/shop/sa/web']],
  ['what is no principal stays as it is', 'cluster.local/shop', ['cluster.local/shop']],
];

for (const [name, principal, expected] of CASES) {
  test(name, () => assert.deepEqual(principalsOfTrustDomains([principal], DOMAINS), expected));
}
