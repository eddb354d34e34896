import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { test } from 'node:test';
import { accessOf, debugForLocals } from '../../../src/admin/access.ts';

const REMOTE = '192.0.2.7:4711';
const of = (namespace: string): string => `spiffe://cluster.local/ns/${namespace}/sa/default`;
const access = (address: string, identities: readonly string[] = [], forwarded = false) =>
  accessOf({ address, encrypted: identities.length > 0, identities, forwarded }, 'istio-system');

for (const address of ['127.0.0.1:80', '127.9.9.9:80', '::1:47640', '::ffff:127.0.0.1:80', 'unknown']) {
  test(`a caller at ${address} is on this machine, and sees all`, () => assert.equal(access(address), undefined));
}

for (const address of [REMOTE, '10.0.0.1:1', '2001:db8::1:80', 'fe80::1:80', '127.evil.example:80', '']) {
  test(`a caller at "${address}" who proves nothing sees nothing`, () => {
    assert.throws(() => access(address), { code: 'UNAUTHENTICATED' });
  });
}

test('an account of the root namespace sees all, one of another what is of its namespace', () => {
  assert.equal(access(REMOTE, [of('istio-system')]), undefined);
  assert.equal(access(REMOTE, [of('shop')]), 'shop');
  assert.equal(access('127.0.0.1:80', [of('shop')]), 'shop');
  assert.throws(() => access(REMOTE, ['spiffe://cluster.local/somebody']), { code: 'UNAUTHENTICATED' });
});

test('who speaks through a proxy on this machine is not on this machine', () => {
  assert.throws(() => access('127.0.0.1:80', [], true), { code: 'UNAUTHENTICATED' });
});

const PAGES: readonly (readonly [
  path: string,
  from: string,
  headers: Readonly<Record<string, string>>,
  status: number,
])[] = [
  ['/debug/configz', '127.0.0.1', {}, 200],
  ['/debug/configz', '::1', {}, 200],
  ['/debug/configz', '192.0.2.7', {}, 401],
  ['/debug?x', '192.0.2.7', {}, 401],
  ['/x/../debug/configz', '192.0.2.7', {}, 401],
  ['//debug/configz', '192.0.2.7', {}, 401],
  ['http://localhost/debug/configz', '192.0.2.7', {}, 401],
  ['/debug/configz', '127.0.0.1', { 'x-forwarded-for': '192.0.2.7' }, 401],
  ['/ready', '192.0.2.7', {}, 200],
  ['/metrics', '192.0.2.7', {}, 200],
];

for (const [url, remoteAddress, headers, expected] of PAGES) {
  test(`${url} is answered with ${expected} to ${remoteAddress} ${JSON.stringify(headers)}`, () => {
    let status = 0;
    const writeHead = (code: number): void => {
      status = code;
    };
    const response = { writeHead, end: () => {} } as unknown as ServerResponse;
    const request = { url, headers, socket: { remoteAddress, remotePort: 4711 } } as unknown as IncomingMessage;
    debugForLocals((_request, answer) => void answer.writeHead(200))(request, response);
    assert.equal(status, expected);
  });
}
