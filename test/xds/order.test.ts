import assert from 'node:assert/strict';
import {
  CLUSTER_TYPE,
  ENDPOINT_TYPE,
  EXTENSION_CONFIG_TYPE,
  LISTENER_TYPE,
  ROUTE_TYPE,
  SECRET_TYPE,
} from '../../src/proto/type-urls.ts';
import type { Variant } from '../../src/xds/events.ts';
import { FakeProvider } from '../support/fake-provider.ts';
import { type Fixture, type Received, type TestStream, xdsTest } from './harness.ts';

const ALL = ['*'];
const MESH = {
  [SECRET_TYPE]: { cert: '1' },
  [CLUSTER_TYPE]: { a: '1', b: '1' },
  [ENDPOINT_TYPE]: { a: '1', b: '1' },
  [EXTENSION_CONFIG_TYPE]: { wasm: '1' },
  [LISTENER_TYPE]: { in: '1' },
  [ROUTE_TYPE]: { 80: '1' },
};
const TYPES = Object.keys(MESH);

/** A client that was sent the whole mesh and took it. */
async function connected(fixture: Fixture, variant: Variant, types: readonly string[] = TYPES): Promise<TestStream> {
  const stream = fixture.stream(variant);
  for (const typeUrl of types) {
    stream.subscribe(typeUrl, ALL);
    await stream.taken(ALL);
  }
  await stream.settled();
  return stream;
}

function short({ typeUrl, resources, removed }: Received): unknown {
  const type = typeUrl.slice(typeUrl.lastIndexOf('.') + 1);
  return [type, resources, ...(removed.length > 0 ? [removed] : [])];
}

xdsTest(
  'one change goes out clusters first, then endpoints; listeners and routes when the clusters are taken',
  async (start, { variant }) => {
    const fixture = await start(new FakeProvider(MESH));
    const stream = await connected(fixture, variant);
    fixture.provider.edit({
      [ROUTE_TYPE]: { 80: '2' },
      [LISTENER_TYPE]: { in: '2' },
      [ENDPOINT_TYPE]: { c: '1' },
      [CLUSTER_TYPE]: { c: '1' },
      [SECRET_TYPE]: { cert: '2' },
      [EXTENSION_CONFIG_TYPE]: { wasm: '2' },
    });
    const before = await stream.settled();
    assert.deepEqual(before.map(short), [
      ['Secret', { cert: '2' }],
      ['Cluster', variant === 'sotw' ? { a: '1', b: '1', c: '1' } : { c: '1' }],
      ['ClusterLoadAssignment', { c: '1' }],
      ['TypedExtensionConfig', { wasm: '2' }],
    ]);
    for (const received of before.filter(({ typeUrl }) => typeUrl !== CLUSTER_TYPE)) stream.ack(received, ALL);
    assert.deepEqual(await stream.settled(), [], 'a cluster is warming: Envoy does not acknowledge yet');
    for (const received of before) stream.ack(received, ALL);
    assert.deepEqual((await stream.settled()).map(short), [
      ['Listener', { in: '2' }],
      ['RouteConfiguration', { 80: '2' }],
    ]);
  },
);

xdsTest('a client that never acknowledges clusters gets its routes a little later', async (start, { variant }) => {
  const fixture = await start(new FakeProvider(MESH));
  const stream = await connected(fixture, variant);
  fixture.provider.edit({ [ROUTE_TYPE]: { 80: '2' }, [CLUSTER_TYPE]: { c: '1' } });
  assert.equal((await stream.settled()).length, 1);
  fixture.clock.advance(2_999);
  assert.deepEqual(await stream.settled(), []);
  fixture.clock.advance(1);
  assert.deepEqual((await stream.settled()).map(short), [['RouteConfiguration', { 80: '2' }]]);
  assert.equal(fixture.clock.timers, 0);
});

xdsTest('routes that wait while clusters change and change are sent in the end', async (start, { variant }) => {
  const fixture = await start(new FakeProvider(MESH));
  const stream = await connected(fixture, variant);
  fixture.provider.edit({ [ROUTE_TYPE]: { 80: '2' }, [CLUSTER_TYPE]: { c: '1' } });
  for (let i = 0; i < 6; i++) {
    const clusters = await stream.next();
    assert.equal(clusters.typeUrl, CLUSTER_TYPE);
    fixture.clock.advance(500);
    fixture.provider.edit({ [CLUSTER_TYPE]: { c: `${i}+` } });
    stream.ack(clusters, ALL);
  }
  const types = (await stream.settled()).map(({ typeUrl }) => typeUrl);
  assert.ok(types.includes(ROUTE_TYPE), types.join());
});

xdsTest('clusters are removed when the routes that named them are replaced', async (start, { variant }) => {
  const fixture = await start(new FakeProvider(MESH));
  const stream = await connected(fixture, variant);
  fixture.provider.edit({
    [CLUSTER_TYPE]: { a: undefined, c: '1' },
    [ENDPOINT_TYPE]: { a: undefined, c: '1' },
    [ROUTE_TYPE]: { 80: 'c instead of a' },
  });
  const added = await stream.settled();
  assert.deepEqual(added.map(short), [
    ['Cluster', variant === 'sotw' ? { a: '1', b: '1', c: '1' } : { c: '1' }],
    ['ClusterLoadAssignment', { c: '1' }],
  ]);
  for (const received of added) stream.ack(received, ALL);
  const routed = await stream.settled();
  assert.deepEqual(routed.map(short), [['RouteConfiguration', { 80: 'c instead of a' }]]);
  for (const received of routed) stream.ack(received, ALL);
  const removed = await stream.settled();
  assert.deepEqual(removed.map(short), [variant === 'sotw' ? ['Cluster', { b: '1', c: '1' }] : ['Cluster', {}, ['a']]]);
  for (const received of removed) stream.ack(received, ALL);
  assert.deepEqual(
    (await stream.settled()).map(short),
    variant === 'sotw' ? [] : [['ClusterLoadAssignment', {}, ['a']]],
  );
});

xdsTest('a removal that nothing else depends on goes out at once', async (start, { variant }) => {
  const fixture = await start(new FakeProvider(MESH));
  const stream = await connected(fixture, variant);
  fixture.provider.edit({ [CLUSTER_TYPE]: { a: undefined } });
  assert.deepEqual(short(await stream.next()), variant === 'sotw' ? ['Cluster', { b: '1' }] : ['Cluster', {}, ['a']]);
});

xdsTest('a removal that waits is told although the routes are never taken', async (start, { variant }) => {
  const fixture = await start(new FakeProvider(MESH));
  const stream = await connected(fixture, variant);
  fixture.provider.edit({ [CLUSTER_TYPE]: { a: undefined }, [ROUTE_TYPE]: { 80: '2' } });
  assert.deepEqual((await stream.settled()).map(short), [['RouteConfiguration', { 80: '2' }]]);
  fixture.clock.advance(3_000);
  assert.deepEqual((await stream.settled()).map(short), [
    variant === 'sotw' ? ['Cluster', { b: '1' }] : ['Cluster', {}, ['a']],
  ]);
});

xdsTest('a cluster that is gone and back before its removal was told is not sent again', async (start, { variant }) => {
  const fixture = await start(new FakeProvider(MESH));
  const stream = await connected(fixture, variant);
  fixture.provider.edit({ [CLUSTER_TYPE]: { a: undefined }, [ROUTE_TYPE]: { 80: '2' } });
  const [routes] = await stream.settled();
  assert.ok(routes !== undefined);
  fixture.provider.edit({ [CLUSTER_TYPE]: { a: '1' } });
  stream.ack(routes, ALL);
  assert.deepEqual(await stream.settled(), []);
  fixture.provider.edit({ [CLUSTER_TYPE]: { a: '2' } });
  assert.equal((await stream.next()).resources['a'], '2');
});

xdsTest('endpoints of a changed cluster are sent again, of others not', async (start, { variant }) => {
  const fixture = await start(new FakeProvider(MESH));
  const stream = fixture.stream(variant);
  stream.subscribe(CLUSTER_TYPE);
  await stream.taken();
  stream.subscribe(ENDPOINT_TYPE, ['a', 'b']);
  await stream.taken(['a', 'b']);
  fixture.provider.edit({ [CLUSTER_TYPE]: { a: '2', dns: '1' } });
  const received = await stream.settled();
  assert.deepEqual(
    received.map(({ typeUrl, resources }) => [
      typeUrl,
      typeUrl === ENDPOINT_TYPE ? resources : Object.keys(resources).length,
    ]),
    [
      [CLUSTER_TYPE, variant === 'sotw' ? 3 : 2],
      [ENDPOINT_TYPE, { a: '1' }],
    ],
  );
});

xdsTest(
  'endpoints that are under way when their cluster changes are sent again behind it',
  async (start, { variant }) => {
    const fixture = await start(new FakeProvider(MESH));
    const stream = await connected(fixture, variant, [CLUSTER_TYPE, ENDPOINT_TYPE]);
    fixture.provider.edit({ [ENDPOINT_TYPE]: { a: '2' } });
    const endpoints = await stream.next();
    fixture.provider.edit({ [CLUSTER_TYPE]: { a: '2' } });
    const clusters = await stream.next();
    assert.equal(clusters.typeUrl, CLUSTER_TYPE);
    stream.ack(endpoints, ALL);
    assert.deepEqual(short(await stream.next()), ['ClusterLoadAssignment', { a: '2' }]);
  },
);

xdsTest('endpoints are sent again when clusters are asked for after them', async (start, { variant }) => {
  const fixture = await start(new FakeProvider(MESH));
  const stream = fixture.stream(variant);
  stream.subscribe(ENDPOINT_TYPE, ['a', 'x']);
  await stream.taken(['a', 'x']);
  stream.subscribe(CLUSTER_TYPE);
  const received = await stream.settled();
  assert.deepEqual(received.map(short), [
    ['Cluster', { a: '1', b: '1' }],
    ['ClusterLoadAssignment', { a: '1' }],
  ]);
});

xdsTest('an endpoint change is one response of that endpoint', async (start, { variant }) => {
  const fixture = await start(new FakeProvider(MESH));
  const stream = await connected(fixture, variant);
  fixture.provider.edit({ [ENDPOINT_TYPE]: { a: '2' } });
  fixture.provider.edit({ [ENDPOINT_TYPE]: { a: '2' } });
  fixture.provider.notify();
  assert.deepEqual((await stream.settled()).map(short), [['ClusterLoadAssignment', { a: '2' }]]);
});

xdsTest('an extension config that is gone stays with clients that have it', async (start, { variant }) => {
  const fixture = await start(new FakeProvider(MESH));
  const stream = await connected(fixture, variant);
  fixture.provider.edit({ [EXTENSION_CONFIG_TYPE]: { wasm: undefined } });
  assert.deepEqual(await stream.settled(), []);
});
