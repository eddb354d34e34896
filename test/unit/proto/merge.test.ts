import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../../src/base/json.ts';
import { merged, mergedAny } from '../../../src/proto/merge.ts';

const CLUSTER = 'envoy.config.cluster.v3.Cluster';
const LISTENER = 'envoy.config.listener.v3.Listener';
const ROUTE = 'envoy.config.route.v3.Route';
const lua = (code?: string) => ({
  '@type': 'type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua',
  ...(code === undefined ? {} : { defaultSourceCode: { inlineString: code } }),
});
const router = (fields: JsonObject) => ({
  '@type': 'type.googleapis.com/envoy.extensions.filters.http.router.v3.Router',
  ...fields,
});

const CASES: readonly (readonly [says: string, type: string, target: JsonObject, source: JsonObject, JsonObject])[] = [
  ['a field replaces', CLUSTER, { name: 'a', altStatName: 'b' }, { altStatName: 'c' }, { name: 'a', altStatName: 'c' }],
  [
    'messages are merged field by field',
    CLUSTER,
    { commonLbConfig: { healthyPanicThreshold: { value: 50 } } },
    { commonLbConfig: { updateMergeWindow: '1s' } },
    { commonLbConfig: { healthyPanicThreshold: { value: 50 }, updateMergeWindow: '1s' } },
  ],
  [
    'a duration replaces as a whole',
    CLUSTER,
    { connectTimeout: '1.500s' },
    { connectTimeout: '2s' },
    { connectTimeout: '2s' },
  ],
  [
    'lists are appended',
    CLUSTER,
    { circuitBreakers: { thresholds: [{ maxRetries: 1 }] } },
    { circuitBreakers: { thresholds: [{ maxConnections: 3 }] } },
    { circuitBreakers: { thresholds: [{ maxRetries: 1 }, { maxConnections: 3 }] } },
  ],
  [
    'entries of maps replace',
    CLUSTER,
    { metadata: { filterMetadata: { a: { x: 1, y: 2 }, b: { x: 1 } } } },
    { metadata: { filterMetadata: { a: { z: 3 } } } },
    { metadata: { filterMetadata: { a: { z: 3 }, b: { x: 1 } } } },
  ],
  [
    'of fields that exclude each other the new one stays',
    ROUTE,
    { name: 'a', route: { cluster: 'x', timeout: '1s' } },
    { redirect: { pathRedirect: '/' } },
    { name: 'a', redirect: { pathRedirect: '/' } },
  ],
  [
    'within a oneof a message is merged',
    ROUTE,
    { route: { cluster: 'x', timeout: '1s' } },
    { route: { weightedClusters: { clusters: [{ name: 'y' }] } } },
    { route: { timeout: '1s', weightedClusters: { clusters: [{ name: 'y' }] } } },
  ],
  [
    'a wrapper of a default is no news',
    LISTENER,
    { useOriginalDst: true },
    { useOriginalDst: false },
    { useOriginalDst: true },
  ],
  [
    'a wrapper of a default is set where there was none',
    LISTENER,
    {},
    { useOriginalDst: false },
    { useOriginalDst: false },
  ],
  [
    'a message in an Any that is a field is replaced',
    CLUSTER,
    { transportSocket: { name: 'a', typedConfig: router({ startChildSpan: true }) } },
    { transportSocket: { typedConfig: lua('x') } },
    { transportSocket: { name: 'a', typedConfig: lua('x') } },
  ],
];

for (const [says, type, target, source, expected] of CASES) {
  test(`merging: ${says}`, () => {
    const before = structuredClone([target, source]);
    assert.deepEqual(merged(type, target, source), expected);
    assert.deepEqual([target, source], before);
  });
}

test('lists can be replaced instead, at any depth', () => {
  const breakers = (thresholds: JsonObject[]) => ({ circuitBreakers: { thresholds } });
  assert.deepEqual(
    merged(CLUSTER, breakers([{ maxRetries: 1 }]), breakers([{ maxConnections: 3 }]), 'replace'),
    breakers([{ maxConnections: 3 }]),
  );
});

test('messages of one type in two Anys are merged; another type takes the place', () => {
  assert.deepEqual(
    mergedAny(router({ startChildSpan: true }), router({ suppressEnvoyHeaders: true })),
    router({ startChildSpan: true, suppressEnvoyHeaders: true }),
  );
  assert.deepEqual(mergedAny(router({ startChildSpan: true }), router({})), router({ startChildSpan: true }));
  assert.deepEqual(mergedAny(router({ startChildSpan: true }), lua('x')), lua('x'));
});
