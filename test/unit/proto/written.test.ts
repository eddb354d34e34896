import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readWritten } from '../../../src/proto/written.ts';

const CLUSTER = 'envoy.config.cluster.v3.Cluster';
const FILTER = 'envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter';
const LUA = 'type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua';

test('both spellings of names are read, and the message comes in the canonical form', () => {
  const { message, problems } = readWritten(CLUSTER, {
    connect_timeout: '1.50s',
    lbPolicy: 'RING_HASH',
    dns_lookup_family: 2,
    upstream_connection_options: { tcp_keepalive: { keepalive_time: '33' } },
    metadata: { filter_metadata: { a: { some_name: [1, null] } } },
    common_lb_config: null,
  });
  assert.deepEqual(problems, []);
  assert.deepEqual(message, {
    connectTimeout: '1.500s',
    lbPolicy: 'RING_HASH',
    dnsLookupFamily: 'V6_ONLY',
    upstreamConnectionOptions: { tcpKeepalive: { keepaliveTime: 33 } },
    metadata: { filterMetadata: { a: { some_name: [1, null] } } },
  });
});

test('a misspelt field is left out, with the name that was likely meant in the same spelling', () => {
  const read = readWritten(CLUSTER, { conect_timeout: '1s', altStatNam: 'x', name: 'a' });
  assert.deepEqual(read.message, { name: 'a' });
  assert.deepEqual(
    read.problems.map(({ kind, path, nearest }) => [kind, path, nearest]),
    [
      ['unknown-field', ['conect_timeout'], 'connect_timeout'],
      ['unknown-field', ['altStatNam'], 'altStatName'],
    ],
  );
});

test('a value of another type, a field in both spellings and two of a oneof are no message', () => {
  for (const [value, path] of [
    [{ connect_timeout: 'soon' }, ['connect_timeout']],
    [{ connect_timeout: '1s', connectTimeout: '1s' }, ['connectTimeout']],
    [{ type: 'STATIC', cluster_type: { name: 'x' } }, ['cluster_type']],
    [{ load_assignment: { endpoints: [{ lb_endpoints: {} }] } }, ['load_assignment', 'endpoints', 0, 'lb_endpoints']],
    [{ per_connection_buffer_limit_bytes: -1 }, ['per_connection_buffer_limit_bytes']],
    [{ dns_lookup_family: 'V4_ONL' }, ['dns_lookup_family']],
    [[], []],
  ] as const) {
    const { message, problems } = readWritten(CLUSTER, value);
    assert.equal(message, undefined, JSON.stringify(value));
    assert.deepEqual(
      problems.map(({ kind, path: at }) => [kind, at]),
      [['value', path]],
    );
  }
});

test('messages in an Any are read too, and named', () => {
  const { message, problems, packed } = readWritten(FILTER, {
    name: 'x',
    typed_config: { '@type': LUA, default_source_code: { inline_string: 'x' }, inline_cod: 'y' },
  });
  assert.deepEqual(message, {
    name: 'x',
    typedConfig: { '@type': LUA, defaultSourceCode: { inlineString: 'x' } },
  });
  assert.deepEqual(packed, ['envoy.extensions.filters.http.lua.v3.Lua']);
  assert.deepEqual(problems[0]?.path, ['typed_config', 'inline_cod']);
  assert.equal(problems[0]?.nearest, 'inline_code');
});

test('an Any of an unknown message goes as a TypedStruct, with its fields as they are written', () => {
  const type = 'type.googleapis.com/envoy.extensions.filters.http.golang.v3alpha.Config';
  const { message, problems } = readWritten(FILTER, { name: 'x', typed_config: { '@type': type, library_id: 'a' } });
  assert.deepEqual(message, {
    name: 'x',
    typedConfig: {
      '@type': 'type.googleapis.com/xds.type.v3.TypedStruct',
      typeUrl: type,
      value: { library_id: 'a' },
    },
  });
  assert.deepEqual(
    problems.map(({ kind, path }) => [kind, path]),
    [['unknown-type', ['typed_config', '@type']]],
  );
});

test('an unknown message is told by the one that was likely meant: beside it, or of version 3', () => {
  const nearest = (type: string) =>
    readWritten(FILTER, { typed_config: { '@type': `type.googleapis.com/${type}` } }).problems[0]?.nearest;
  assert.equal(nearest('envoy.extensions.filters.http.lua.v3.Lau'), 'envoy.extensions.filters.http.lua.v3.Lua');
  assert.equal(nearest('envoy.config.filter.http.lua.v2.Lua'), 'envoy.extensions.filters.http.lua.v3.Lua');
});
