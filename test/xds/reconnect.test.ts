import assert from 'node:assert/strict';
import { CLUSTER_TYPE, ENDPOINT_TYPE, LISTENER_TYPE, ROUTE_TYPE } from '../../src/proto/type-urls.ts';
import { FakeProvider, FakeSet } from '../support/fake-provider.ts';
import { NODE, xdsTest } from './harness.ts';

const CLUSTERS = { a: '1', b: '1', c: '1' };

xdsTest(
  'a client that says what it has is sent what differs, and what is gone',
  async (start) => {
    const fixture = await start(new FakeProvider({ [CLUSTER_TYPE]: CLUSTERS, [LISTENER_TYPE]: {}, [ROUTE_TYPE]: {} }));
    const first = fixture.stream('delta');
    first.subscribe(CLUSTER_TYPE);
    const { versions } = await first.taken();
    first.cancel();
    await first.ended();

    const same = fixture.stream('delta');
    same.delta({ node: NODE, typeUrl: CLUSTER_TYPE, initialResourceVersions: versions });
    assert.deepEqual(await same.settled(), [], 'nothing differs, nothing is sent');
    assert.equal(fixture.discovery.streams()[0]?.types[0]?.state, 'synced');
    same.cancel();

    fixture.provider.edit({ [CLUSTER_TYPE]: { a: undefined, b: '2', d: '1' } });
    const second = fixture.stream('delta');
    second.delta({ node: NODE, typeUrl: CLUSTER_TYPE, initialResourceVersions: versions });
    assert.deepEqual((await second.taken()).resources, { b: '2', d: '1' });
    // Removed clusters wait for the listeners and routes that the client will ask for.
    for (const typeUrl of [LISTENER_TYPE, ROUTE_TYPE]) {
      second.delta({ typeUrl, resourceNamesSubscribe: ['*'] });
      await second.taken();
    }
    assert.deepEqual((await second.taken()).removed, ['a']);
    fixture.provider.edit({ [CLUSTER_TYPE]: { b: '3' } });
    assert.deepEqual((await second.taken()).resources, { b: '3' });
  },
  ['delta'],
);

xdsTest(
  'a reconnecting client that never asks for routes is told what is gone, a little later',
  async (start) => {
    const fixture = await start(new FakeProvider({ [CLUSTER_TYPE]: CLUSTERS }));
    const stream = fixture.stream('delta');
    stream.delta({ node: NODE, typeUrl: CLUSTER_TYPE, initialResourceVersions: { gone: 'x' } });
    const { resources, removed } = await stream.taken();
    assert.deepEqual({ resources, removed }, { resources: CLUSTERS, removed: [] });
    assert.deepEqual(await stream.settled(), []);
    fixture.clock.advance(3_000);
    assert.deepEqual((await stream.taken()).removed, ['gone']);
  },
  ['delta'],
);

xdsTest(
  'named resources that the client has are not sent again; others are, or told as gone',
  async (start) => {
    const fixture = await start(new FakeProvider({ [ENDPOINT_TYPE]: CLUSTERS }));
    const first = fixture.stream('delta');
    first.subscribe(ENDPOINT_TYPE, ['a', 'b']);
    const { versions } = await first.taken();
    fixture.provider.edit({ [ENDPOINT_TYPE]: { b: undefined } });
    const second = fixture.stream('delta');
    second.delta({
      node: NODE,
      typeUrl: ENDPOINT_TYPE,
      resourceNamesSubscribe: ['a', 'b', 'c', 'x'],
      initialResourceVersions: versions,
    });
    const { resources, removed } = await second.taken();
    assert.deepEqual({ resources, removed }, { resources: { c: '1' }, removed: ['x'] });
    assert.deepEqual(await second.settled(), [], 'endpoints that are gone wait for their clusters to go');
    fixture.clock.advance(3_000);
    assert.deepEqual((await second.taken()).removed, ['b']);
  },
  ['delta'],
);

xdsTest(
  'a first request with a version and a nonce of an earlier stream is answered whole',
  async (start) => {
    const fixture = await start(new FakeProvider({ [CLUSTER_TYPE]: CLUSTERS }));
    const stream = fixture.stream('sotw');
    stream.sotw({ node: NODE, typeUrl: CLUSTER_TYPE, versionInfo: 'v', responseNonce: 'n' });
    assert.deepEqual((await stream.taken()).resources, CLUSTERS);
    assert.deepEqual(await stream.settled(), []);
  },
  ['sotw'],
);

xdsTest('the same content has the same version in every stream and server', async (start, { variant }) => {
  const versions: string[] = [];
  for (const fixture of [
    await start(new FakeProvider({ [CLUSTER_TYPE]: CLUSTERS })),
    await start(new FakeProvider({ [CLUSTER_TYPE]: { c: '1', b: '1', a: '1' } })),
  ]) {
    const stream = fixture.stream(variant);
    stream.subscribe(CLUSTER_TYPE);
    versions.push((await stream.taken()).version);
  }
  assert.equal(versions[0], versions[1]);
});

xdsTest('a proxy whose scope moves is sent the difference of the two scopes', async (start, { variant }) => {
  const fixture = await start(new FakeProvider({ [CLUSTER_TYPE]: CLUSTERS }));
  const stream = fixture.stream(variant);
  stream.subscribe(CLUSTER_TYPE);
  await stream.taken();
  fixture.provider.last.move(new Map([[CLUSTER_TYPE, new FakeSet({ b: '1', c: '2', d: '1' })]]));
  const { resources, removed } = await stream.taken();
  if (variant === 'sotw') assert.deepEqual(resources, { b: '1', c: '2', d: '1' });
  else assert.deepEqual({ resources, removed }, { resources: { c: '2', d: '1' }, removed: ['a'] });
  fixture.provider.last.move(new Map([[CLUSTER_TYPE, new FakeSet({ b: '1', c: '2', d: '1' })]]));
  assert.deepEqual(await stream.settled(), [], 'another set of the same content is no change');
});

xdsTest('a set that forgot its history is compared', async (start, { variant }) => {
  const fixture = await start(new FakeProvider({ [CLUSTER_TYPE]: CLUSTERS }));
  const stream = fixture.stream(variant);
  stream.subscribe(CLUSTER_TYPE);
  const first = await stream.next();
  for (let i = 0; i < 20; i++) fixture.provider.edit({ [CLUSTER_TYPE]: { a: `${i}`, [`new${i}`]: '1' } });
  for (let i = 0; i < 20; i++) fixture.provider.edit({ [CLUSTER_TYPE]: { [`new${i}`]: undefined } });
  fixture.provider.edit({ [CLUSTER_TYPE]: { b: undefined } });
  stream.ack(first);
  const { resources, removed } = await stream.next();
  if (variant === 'sotw') assert.deepEqual(resources, { a: '19', c: '1' });
  else assert.deepEqual({ resources, removed }, { resources: { a: '19' }, removed: ['b'] });
});
