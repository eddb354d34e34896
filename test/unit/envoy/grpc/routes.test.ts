import assert from 'node:assert/strict';
import { test } from 'node:test';
import { outboundName, servesHost } from '../../../../src/envoy/grpc/routes.ts';

test('a cluster is named by port, subset and host', () => {
  assert.deepEqual(outboundName('outbound|7070|v1|greeter.example.com'), {
    port: 7070,
    subset: 'v1',
    hostname: 'greeter.example.com',
  });
});

for (const name of ['7070', 'inbound|7070||', 'outbound|x||a', 'outbound|0||a', 'outbound|7070||', 'outbound|1||a|b']) {
  test(`"${name}" names nothing that a client can reach`, () => assert.equal(outboundName(name), undefined));
}

const HOST = { hostname: 'Greeter.example.com', port: 7070 };
for (const [domain, serves] of [
  ['greeter.example.com', true],
  ['greeter.example.com:7070', true],
  ['greeter.example.com:7071', false],
  ['greeter', false],
  ['*.example.com', true],
  ['*.example.com:7070', true],
  ['*.example.com:1', false],
  ['*.example.org', false],
  ['*', true],
] as const) {
  test(`requests for the host are ${serves ? '' : 'not '}for ${domain}`, () => {
    assert.equal(servesHost([domain], HOST), serves);
  });
}

test('an address of the sixth version is the same with brackets and without', () => {
  assert.ok(servesHost(['[fd00::1]:80'], { hostname: 'fd00::1', port: 80 }));
  assert.ok(servesHost(['[fd00::1]'], { hostname: 'fd00::1', port: 80 }));
});
