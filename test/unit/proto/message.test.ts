import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { test } from 'node:test';
import { decodeMessage } from '../../../src/proto/decode.ts';
import { EncodeError, UnknownMessageError } from '../../../src/proto/errors.ts';
import { encodeAny, encoded, encodeMessage, packed } from '../../../src/proto/message.ts';

const CLUSTER = 'envoy.config.cluster.v3.Cluster';
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** Encodes what the types would not allow. */
const encode = (name: string, message: object): Uint8Array => encodeMessage(name, message);

/** What a cluster becomes on the way to a client. */
const received = (name: string, message: object): object => decodeMessage(name, encode(name, message));

test('a key that the message does not have is refused, with the place and the name of the message', () => {
  assert.throws(() => encode(CLUSTER, { name: 'a', edsClusterConfig: { edsConfg: {} } }), {
    name: 'EncodeError',
    message: `${CLUSTER}.edsClusterConfig: ${CLUSTER}.EdsClusterConfig has no field "edsConfg"`,
  });
});

test('a name in snake_case is no key of proto JSON', () => {
  assert.throws(() => encode(CLUSTER, { connect_timeout: '5s' }), /has no field "connect_timeout"/);
});

test('a mistake inside a packed message is placed too', () => {
  const router = packed('envoy.extensions.filters.http.router.v3.Router', {});
  const listener = { filterChains: [{ filters: [{ name: 'x', typedConfig: { ...router, dynamicStat: true } }] }] };
  assert.throws(() => encode('envoy.config.listener.v3.Listener', listener), {
    message:
      'envoy.config.listener.v3.Listener.filterChains[0].filters[0].typedConfig: envoy.extensions.filters.http.router.v3.Router has no field "dynamicStat"',
  });
});

for (const [what, message, pattern] of [
  [
    'the name of an enum value that does not exist',
    { type: 'STATICK' },
    /Cluster\.type: "STATICK" is no value of the enum \(STATIC, /,
  ],
  [
    'a text for a number',
    { lrsServer: {}, maxRequestsPerConnection: 'many' },
    /\.maxRequestsPerConnection: "many" is no integer/,
  ],
  [
    'a number beyond 32 bits',
    { perConnectionBufferLimitBytes: 2 ** 32 },
    /\.perConnectionBufferLimitBytes: 4294967296 is no integer/,
  ],
  ['a fraction for an integer', { perConnectionBufferLimitBytes: 0.5 }, /0\.5 is no integer/],
  ['a number for a text', { name: 5 }, /\.name: 5 is no string/],
  ['a text for a boolean', { respectDnsTtl: 'true' }, /\.respectDnsTtl: "true" is no bool/],
  ['a duration without its unit', { connectTimeout: '5' }, /\.connectTimeout: "5" is no duration/],
  ['a value for a list', { filters: {} }, /\.filters: \{\} is no list/],
  ['a list for a message', { loadAssignment: ['a'] }, /\.loadAssignment: \["a"\] is no envoy/],
  ['an empty list for a message', { loadAssignment: [] }, /\.loadAssignment: \[\] is no envoy/],
  ['a text for a message', { loadAssignment: 'a' }, /\.loadAssignment: "a" is no envoy/],
  ['a boolean for a message', { loadAssignment: true }, /\.loadAssignment: true is no envoy/],
  [
    'two fields of one oneof',
    { type: 'EDS', clusterType: { name: 'x' } },
    /"type" and "clusterType" exclude each other/,
  ],
  [
    'a map entry of the wrong type',
    { typedExtensionProtocolOptions: { x: 7 } },
    /Options\["x"\]: 7 is no message with a type URL/,
  ],
  ['an Any without its type', { typedExtensionProtocolOptions: { x: { a: 1 } } }, /a packed message has no "@type"/],
] as const) {
  test(`${what} is refused, with its place`, () => {
    assert.throws(
      () => encode(CLUSTER, message),
      (error) => error instanceof EncodeError && pattern.test(error.message),
    );
  });
}

test('a type that is not known is told apart, at the top and inside an Any', () => {
  const unknown = (error: unknown): boolean => error instanceof UnknownMessageError && error.messageName === 'a.Filter';
  assert.throws(() => encode('a.Filter', {}), unknown);
  assert.throws(() => encode(CLUSTER, { typedExtensionProtocolOptions: { x: { '@type': 'x/a.Filter' } } }), unknown);
  assert.throws(() => decodeMessage('a.Filter', new Uint8Array()), unknown);
});

test('a failed encoding leaves nothing behind', () => {
  assert.throws(() => encode(CLUSTER, { name: 'some name', bad: 1 }));
  assert.equal(hex(encode(CLUSTER, {})), '');
});

test('a message of an unknown type passes through an Any as bytes', () => {
  const any = { '@type': 'type.googleapis.com/a.Filter', value: Buffer.from([1, 2]) };
  assert.deepEqual(received('google.protobuf.Any', any), { ...any, value: 'AQI=' });
});

test('absent values, nulls and defaults are not sent', () => {
  assert.equal(
    hex(encode(CLUSTER, { name: '', type: undefined, lbPolicy: 'ROUND_ROBIN', metadata: null })),
    '0800'.slice(4),
  );
  assert.equal(hex(encode('google.rpc.Status', { code: 0, message: '', details: [] })), '');
});

test('a default that is present is sent where the message can tell', () => {
  assert.deepEqual(received(CLUSTER, { type: 'STATIC', respectDnsTtl: false }), { type: 'STATIC' });
  assert.deepEqual(received(CLUSTER, { maxRequestsPerConnection: 0, connectTimeout: '0s' }), {
    maxRequestsPerConnection: 0,
    connectTimeout: '0s',
  });
});

test('numbers may be texts, enums numbers, bytes bytes or base64 of either alphabet', () => {
  assert.deepEqual(received(CLUSTER, { type: 3, perConnectionBufferLimitBytes: '7' }), {
    type: 'EDS',
    perConnectionBufferLimitBytes: 7,
  });
  assert.deepEqual(received(CLUSTER, { lbPolicy: 77 }), { lbPolicy: 77 });
  const source = 'envoy.config.core.v3.DataSource';
  for (const inlineBytes of [Buffer.from([251, 255]), '+/8=', '-_8']) {
    assert.deepEqual(received(source, { inlineBytes }), { inlineBytes: '+/8=' });
  }
  const value = 'google.protobuf.Int64Value';
  for (const number of [-5, '-5', -5n]) assert.equal(decodeMessage(value, encodeMessage(value, number as never)), '-5');
});

test('negative zero is no default of a floating point number', () => {
  const percent = 'envoy.type.v3.Percent';
  assert.equal(hex(encode(percent, { value: 0 })), '');
  assert.equal(hex(encode(percent, { value: -0 })), '090000000000000080');
});

test('integers of negative map keys come in their order', () => {
  const info = 'google.api.expr.v1alpha1.SourceInfo';
  const positions = { '10': 1, '-3': 2, '9': 3 };
  assert.deepEqual(Object.keys((received(info, { positions }) as { positions: object }).positions).sort(), [
    '-3',
    '10',
    '9',
  ]);
  assert.equal(hex(encode(info, { positions })), hex(encode(info, { positions: { '-3': 2, '9': 3, '10': 1 } })));
});

test('equal messages give equal bytes, whatever the order of their keys', () => {
  const a = { metadata: { filterMetadata: { b: { x: 1, y: [1] }, a: {} } }, name: 'c' };
  const b = { name: 'c', metadata: { filterMetadata: { a: {}, b: { y: [1], x: 1 } } } };
  assert.equal(hex(encode(CLUSTER, a)), hex(encode(CLUSTER, b)));
});

test('a message may stand encoded inside another', () => {
  const name = 'envoy.config.route.v3.VirtualHost';
  const host = { name: 'a', domains: ['*'] };
  const any = encodeAny(name, host);
  const bytes = encodeMessage(name, host);
  const route = 'envoy.config.route.v3.RouteConfiguration';
  assert.equal(
    hex(encodeMessage(route, { name: 'r', virtualHosts: [encoded(name, bytes), host] })),
    hex(encodeMessage(route, { name: 'r', virtualHosts: [host, host] })),
  );
  const cluster = { typedExtensionProtocolOptions: { x: encoded('google.protobuf.Any', any) } };
  assert.equal(
    hex(encodeMessage(CLUSTER, cluster)),
    hex(encode(CLUSTER, { typedExtensionProtocolOptions: { x: packed(name, host) } })),
  );
});

test('a key named __proto__ stays a key', () => {
  const struct = JSON.parse('{"__proto__": {"a": 1}}') as object;
  const decoded = received('google.protobuf.Struct', struct);
  assert.deepEqual(Object.keys(decoded), ['__proto__']);
  assert.equal(Object.getPrototypeOf(decoded), Object.prototype);
});

test('a message larger than the buffer is encoded whole', () => {
  const domains = Array.from({ length: 20_000 }, (_, index) => `host-${index}.example.com`);
  const host = { name: 'n', domains };
  assert.deepEqual(received('envoy.config.route.v3.VirtualHost', host), host);
});
