import assert from 'node:assert/strict';
import { test } from 'node:test';
import { certificateIdentities } from '../../../src/xds/caller.ts';
import { serverOptions, TokenBucket } from '../../../src/xds/limits.ts';
import { checkNames, nodeOf, typeOf } from '../../../src/xds/request-checks.ts';

test('a bucket lets a burst pass, then one at a time', () => {
  const bucket = new TokenBucket(10, 3, 0);
  assert.deepEqual([bucket.take(0), bucket.take(0), bucket.take(0)], [0, 0, 100]);
  assert.equal(bucket.take(100), 100);
  assert.equal(bucket.take(10_000), 0, 'and fills up again');
});

test('what is beyond a bucket is owed to it', () => {
  const bucket = new TokenBucket(10, 1, 0);
  assert.deepEqual([bucket.take(0), bucket.take(0), bucket.take(0)], [100, 200, 300]);
});

test('the options of a server notice clients that vanish, and bound requests, not responses', () => {
  const options = serverOptions({ maxRequestBytes: 7 });
  assert.equal(options['grpc.max_receive_message_length'], 7);
  assert.equal(options['grpc.max_send_message_length'], -1);
  assert.ok(Number(options['grpc.keepalive_time_ms']) > 0);
});

test('identities are the URIs of a certificate that was verified', async () => {
  const caller = { address: 'a', encrypted: true, certificate: undefined, header: () => undefined };
  const identities = async (subjectAltName: string | undefined): Promise<readonly string[]> =>
    (await certificateIdentities({ ...caller, subjectAltName })).identities;
  assert.deepEqual(await identities(undefined), []);
  assert.deepEqual(await identities('DNS:a, URI:spiffe://td/ns/a/sa/b, IP Address:1.2.3.4'), ['spiffe://td/ns/a/sa/b']);
  assert.deepEqual(await identities('URI:"spiffe://td/a, URI:spiffe://td/b"'), []);
  assert.deepEqual(await identities('URI:spiffe://td/a, DNS:"x\\", URI:spiffe://td/b"'), ['spiffe://td/a']);
  assert.deepEqual(await identities('URI:spiffe://td/a, DNS:"x, URI:spiffe://td/b'), []);
});

const limits = { maxNames: 2, maxNameLength: 5 } as Parameters<typeof checkNames>[2];
const request = { node: undefined, typeUrl: '', responseNonce: '', errorDetail: undefined };

test('each check says what is wrong', () => {
  assert.throws(() => nodeOf(request, limits), { code: 'INVALID_ARGUMENT', message: /must have a node/ });
  assert.throws(() => typeOf(request, undefined, limits), { code: 'INVALID_ARGUMENT', message: /type_url/ });
  assert.throws(() => typeOf({ ...request, typeUrl: 'toolong' }, undefined, limits), /longer than 5/);
  assert.throws(() => typeOf({ ...request, typeUrl: 'b' }, 'a', limits), /has the type a, not b/);
  assert.equal(typeOf(request, 'a', limits), 'a');
  assert.throws(() => checkNames(['a'], 3, limits), { code: 'RESOURCE_EXHAUSTED' });
  assert.throws(() => checkNames(['a', 'toolong'], 2, limits), { code: 'INVALID_ARGUMENT', message: /"toolong"/ });
});
