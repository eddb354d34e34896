import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import {
  pairProblem,
  readCertificates,
  revocationsProblem,
  rootsProblem,
  validityOf,
} from '../../../src/base/certificate.ts';
import { TestAuthority } from '../../support/certificates.ts';
import { WorkDir } from '../../support/work-dir.ts';

const dir = new WorkDir('certificates');
after(() => dir[Symbol.dispose]());
const authority = new TestAuthority(dir.path);
const own = authority.issue('DNS:a.test');
const other = authority.issue('DNS:b.test');

test('a certificate and its key belong together, with and without the authority behind it', () => {
  assert.equal(pairProblem(own.chain, own.key), undefined);
  assert.equal(pairProblem(own.chain + authority.root, own.key), undefined);
  assert.equal(pairProblem(`text before it\n${own.chain}`, `${own.key}\n`), undefined);
});

test('a pair that is wrong is told in words that hold nothing of it', () => {
  const cut = own.chain.slice(0, 200);
  const damaged = own.chain.replace(/\n[A-Za-z0-9+/]{64}\n/, '\n');
  const damagedKey = own.key.replace(/\n.{20}/, '\n');
  const encrypted = own.key.replaceAll('PRIVATE KEY', 'ENCRYPTED PRIVATE KEY');
  const cases: readonly [string, string, 'certificate' | 'privateKey', RegExp][] = [
    [other.chain, own.key, 'certificate', /do not belong together/],
    [authority.root + own.chain, own.key, 'certificate', /not the first in the chain/],
    ['', own.key, 'certificate', /is empty/],
    [cut, own.key, 'certificate', /holds no certificate/],
    [damaged, own.key, 'certificate', /cut off or damaged/],
    [own.chain + damaged, own.key, 'certificate', /number 2 in it can not be read/],
    [own.key, own.key, 'certificate', /holds no certificate/],
    [own.chain, '', 'privateKey', /is empty/],
    [own.chain, own.chain, 'privateKey', /holds no private key/],
    [own.chain, damagedKey, 'privateKey', /cut off or damaged/],
    [own.chain, encrypted, 'privateKey', /encrypted with a passphrase/],
  ];
  for (const [certificate, key, part, words] of cases) {
    const found = pairProblem(certificate, key);
    assert.equal(found?.part, part, String(words));
    assert.match(found?.problem ?? '', words);
    for (const line of own.key.split('\n').slice(1, -2)) assert.ok(!found?.problem.includes(line));
  }
  assert.deepEqual(
    [pairProblem(other.chain, own.key)?.isMismatch, pairProblem('', own.key)?.isMismatch],
    [true, false],
  );
});

test('roots and lists of the revoked are told from other texts', () => {
  assert.equal(rootsProblem(authority.root + own.chain), undefined);
  assert.match(rootsProblem('roots') ?? '', /holds no certificate/);
  assert.equal(revocationsProblem(authority.revocations()), undefined);
  assert.match(revocationsProblem(own.chain) ?? '', /no list of revoked/);
});

test('a chain holds as long as all of its certificates do', () => {
  const long = authority.issueFor(100, 'DNS:a.test');
  const chain = readCertificates(long.chain);
  assert.ok(typeof chain !== 'string');
  const days = (pem: string): number => {
    const { from = 0, until = 0 } = validityOf(pem) ?? {};
    return Math.round((until - from) / 86_400_000);
  };
  assert.deepEqual([days(long.chain), days(long.chain + authority.root)], [100, 2]);
  assert.equal(validityOf('nothing'), undefined);
});
