import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { test } from 'node:test';
import { decodeMessage } from '../../../src/proto/decode.ts';
import { DecodeError } from '../../../src/proto/errors.ts';
import { encodeMessage } from '../../../src/proto/message.ts';

const CLUSTER = 'envoy.config.cluster.v3.Cluster';
const decode = (name: string, hexBytes: string): object => decodeMessage(name, Buffer.from(hexBytes, 'hex'));
const hex = (name: string, message: object): string => Buffer.from(encodeMessage(name, message)).toString('hex');

test('parts of one message that come apart are put together', () => {
  const first = hex(CLUSTER, { name: 'a', edsClusterConfig: { serviceName: 's' }, filters: [{ name: 'f' }] });
  const second = hex(CLUSTER, { name: 'b', edsClusterConfig: { edsConfig: { ads: {} } }, filters: [{ name: 'g' }] });
  assert.deepEqual(decode(CLUSTER, first + second), {
    name: 'b',
    edsClusterConfig: { serviceName: 's', edsConfig: { ads: {} } },
    filters: [{ name: 'f' }, { name: 'g' }],
  });
});

test('the last field of a oneof counts', () => {
  const source = 'envoy.config.core.v3.DataSource';
  const both = hex(source, { filename: 'a' }) + hex(source, { inlineString: 'b' });
  assert.deepEqual(decode(source, both), { inlineString: 'b' });
});

test('a default that follows a value unsets it', () => {
  assert.deepEqual(decode('google.rpc.Status', '08050800'), {});
});

test('fields that are not known and values of another wire type are passed over', () => {
  assert.deepEqual(decode('google.rpc.Status', `0805${'fa7f0161'}${'3b08053c'}${'0d00000000'}`), { code: 5 });
});

test('repeated numbers may come packed or one by one', () => {
  const config = 'envoy.config.route.v3.RetryPolicy';
  assert.deepEqual(decode(config, '3a04f403f703'), { retriableStatusCodes: [500, 503] });
  assert.deepEqual(decode(config, '38f40338f703'), { retriableStatusCodes: [500, 503] });
});

test('an entry of a map may lack its key or its value', () => {
  const metadata = 'istio.mcp.v1alpha1.Metadata';
  assert.deepEqual(decode(metadata, '22030a0161' + '2203120162' + '2a00'), {
    labels: { a: '', '': 'b' },
    annotations: { '': '' },
  });
});

test('32-bit floats have as few digits as tell them apart', () => {
  for (const number of [0.1, 16777216, 1e-7, 3.4028235e38]) {
    assert.equal(
      decodeMessage('google.protobuf.FloatValue', encodeMessage('google.protobuf.FloatValue', number)),
      number,
    );
  }
});

for (const [what, name, bytes] of [
  ['a text that is no UTF-8', 'google.rpc.Status', '1201ff'],
  ['a message that ends early', CLUSTER, '1a05'],
  ['a number of eleven bytes', 'google.rpc.Status', `08${'ff'.repeat(10)}01`],
  ['a field with number 0', CLUSTER, '00'],
  ['the end of a group that has not begun', CLUSTER, '0c'],
  ['a group without an end', CLUSTER, 'fb7f'],
] as const) {
  test(`${what} is refused`, () => {
    assert.throws(() => decode(name, bytes), DecodeError);
  });
}

test('messages that are nested too deep are refused', () => {
  let value: object = {};
  for (let depth = 0; depth < 60; depth++) value = { a: value };
  assert.throws(
    () => decodeMessage('google.protobuf.Struct', encodeMessage('google.protobuf.Struct', value as never)),
    DecodeError,
  );
  let any: object = {};
  for (let depth = 0; depth < 200; depth++) any = { '@type': 't/google.protobuf.Any', value: any };
  assert.throws(
    () => decodeMessage('google.protobuf.Any', encodeMessage('google.protobuf.Any', any as never)),
    DecodeError,
  );
});
