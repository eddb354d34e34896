import assert from 'node:assert/strict';
import { CLUSTER_TYPE, ENDPOINT_TYPE, ROUTE_TYPE } from '../../src/proto/type-urls.ts';
import { FakeProvider } from '../support/fake-provider.ts';
import { NODE, xdsTest } from './harness.ts';

const CLUSTERS = { a: '1', b: '1', c: '1' };
const UNSERVED = 'type.googleapis.com/test.Unserved';

xdsTest('a first request without names gets every cluster, once', async (start, { variant, directWrites }) => {
  const fixture = await start(new FakeProvider({ [CLUSTER_TYPE]: CLUSTERS }));
  const stream = fixture.stream(variant);
  stream.subscribe(CLUSTER_TYPE);
  const received = await stream.taken();
  assert.deepEqual(received.resources, CLUSTERS);
  assert.equal(received.typeUrl, CLUSTER_TYPE);
  assert.deepEqual(await stream.settled(), []);
  assert.ok(fixture.pushes.every(({ fallback }) => fallback !== directWrites));
});

xdsTest('"*" asks for everything of any type', async (start, { variant }) => {
  const fixture = await start(new FakeProvider({ [ENDPOINT_TYPE]: CLUSTERS }));
  const stream = fixture.stream(variant);
  stream.subscribe(ENDPOINT_TYPE, ['*']);
  assert.deepEqual((await stream.taken(['*'])).resources, CLUSTERS);
  fixture.provider.edit({ [ENDPOINT_TYPE]: { d: '1' } });
  assert.deepEqual((await stream.taken(['*'])).resources, { d: '1' });
});

xdsTest('an empty first request for endpoints asks for nothing', async (start, { variant }) => {
  const fixture = await start(new FakeProvider({ [ENDPOINT_TYPE]: CLUSTERS }));
  const stream = fixture.stream(variant);
  stream.subscribe(ENDPOINT_TYPE);
  await stream.settled();
  fixture.provider.edit({ [ENDPOINT_TYPE]: { a: '2' } });
  assert.deepEqual(await stream.settled(), []);
});

xdsTest('a type that nothing is in is answered all the same', async (start, { variant }) => {
  const fixture = await start(new FakeProvider({ [CLUSTER_TYPE]: {} }));
  const stream = fixture.stream(variant);
  stream.subscribe(CLUSTER_TYPE);
  assert.deepEqual((await stream.taken()).resources, {});
  fixture.provider.edit({ [CLUSTER_TYPE]: { a: '1' } });
  assert.deepEqual((await stream.taken()).resources, { a: '1' });
});

xdsTest(
  'a type that is not served is answered once with nothing, and said to whoever logs',
  async (start, { variant }) => {
    const unserved: string[] = [];
    const events = { onUnservedType: (_: unknown, typeUrl: string) => unserved.push(typeUrl) };
    const fixture = await start(new FakeProvider({}), { events });
    const stream = fixture.stream(variant);
    stream.subscribe(UNSERVED, ['x']);
    const { resources, removed } = await stream.taken(['x']);
    assert.deepEqual({ resources, removed }, { resources: {}, removed: variant === 'delta' ? ['x'] : [] });
    assert.deepEqual(unserved, [UNSERVED]);
    assert.deepEqual(await stream.settled(), []);
  },
);

xdsTest('a type that becomes served later is sent then', async (start, { variant }) => {
  const fixture = await start(new FakeProvider({}));
  const stream = fixture.stream(variant);
  stream.subscribe(UNSERVED, ['x']);
  await stream.taken(['x']);
  fixture.provider.edit({ [UNSERVED]: { x: '1', y: '1' } });
  assert.deepEqual((await stream.taken(['x'])).resources, { x: '1' });
});

xdsTest('named endpoints are sent, and of changes only those', async (start, { variant }) => {
  const fixture = await start(new FakeProvider({ [ENDPOINT_TYPE]: CLUSTERS }));
  const stream = fixture.stream(variant);
  stream.subscribe(ENDPOINT_TYPE, ['a', 'b']);
  assert.deepEqual((await stream.taken(['a', 'b'])).resources, { a: '1', b: '1' });
  fixture.provider.edit({ [ENDPOINT_TYPE]: { c: '2', d: '1' } });
  assert.deepEqual(await stream.settled(), []);
  fixture.provider.edit({ [ENDPOINT_TYPE]: { a: '2', c: '3' } });
  assert.deepEqual((await stream.taken(['a', 'b'])).resources, { a: '2' });
});

xdsTest(
  'names that are added are answered with what is new alone',
  async (start) => {
    const fixture = await start(new FakeProvider({ [ROUTE_TYPE]: CLUSTERS }));
    const stream = fixture.stream('sotw');
    stream.subscribe(ROUTE_TYPE, ['a']);
    const first = await stream.taken(['a']);
    stream.ack(first, ['a', 'b']);
    const second = await stream.taken(['a', 'b']);
    assert.deepEqual(second.resources, { b: '1' });
    stream.ack(second, ['b']);
    stream.ack(second, ['b', 'a']);
    assert.deepEqual((await stream.next()).resources, { a: '1' }, 'dropped and asked for again');
  },
  ['sotw'],
);

xdsTest(
  'clusters that are named are answered whole when names are added',
  async (start) => {
    const fixture = await start(new FakeProvider({ [CLUSTER_TYPE]: CLUSTERS }));
    const stream = fixture.stream('sotw');
    stream.subscribe(CLUSTER_TYPE, ['a']);
    const first = await stream.taken(['a']);
    assert.deepEqual(first.resources, { a: '1' });
    stream.ack(first, ['a', 'c']);
    assert.deepEqual((await stream.taken(['a', 'c'])).resources, { a: '1', c: '1' });
    fixture.provider.edit({ [CLUSTER_TYPE]: { b: '2' } });
    assert.deepEqual(await stream.settled(), []);
  },
  ['sotw'],
);

xdsTest(
  'no names after names means nothing, not everything',
  async (start) => {
    const fixture = await start(new FakeProvider({ [CLUSTER_TYPE]: CLUSTERS }));
    const stream = fixture.stream('sotw');
    stream.subscribe(CLUSTER_TYPE);
    const all = await stream.taken();
    stream.ack(all, ['*', 'a']);
    const named = await stream.taken(['*', 'a']);
    assert.deepEqual(named.resources, CLUSTERS);
    stream.ack(named, ['a']);
    stream.ack(named, []);
    await stream.settled();
    fixture.provider.edit({ [CLUSTER_TYPE]: { a: '2', b: '2' } });
    assert.deepEqual(await stream.settled(), []);
  },
  ['sotw'],
);

xdsTest(
  'names change with every request, whatever its nonce; the same names and a stale nonce are nothing',
  async (start) => {
    const fixture = await start(new FakeProvider({ [CLUSTER_TYPE]: CLUSTERS, [ENDPOINT_TYPE]: CLUSTERS }));
    const stream = fixture.stream('sotw');
    stream.subscribe(CLUSTER_TYPE);
    await stream.taken();
    stream.sotw({ typeUrl: CLUSTER_TYPE, responseNonce: 'never-sent' });
    assert.deepEqual(await stream.settled(), []);
    stream.subscribe(ENDPOINT_TYPE, ['a']);
    const first = await stream.next();
    // The client adds a name before it has read the response, and acknowledges with both.
    stream.sotw({ typeUrl: ENDPOINT_TYPE, resourceNames: ['a', 'b'] });
    assert.deepEqual(await stream.settled(), [], 'one response at a time');
    stream.ack(first, ['a', 'b']);
    assert.deepEqual((await stream.next()).resources, { b: '1' });
  },
  ['sotw'],
);

xdsTest(
  'a client that was answered and comes without a nonce has begun anew',
  async (start) => {
    const fixture = await start(new FakeProvider({ [ENDPOINT_TYPE]: CLUSTERS }));
    const stream = fixture.stream('sotw');
    stream.subscribe(ENDPOINT_TYPE, ['a', 'b']);
    await stream.taken(['a', 'b']);
    stream.sotw({ typeUrl: ENDPOINT_TYPE, resourceNames: ['a', 'b'] });
    assert.deepEqual((await stream.next()).resources, { a: '1', b: '1' });
  },
  ['sotw'],
);

xdsTest(
  'endpoints that do not exist are answered with none, so that a warming cluster goes on',
  async (start) => {
    const fixture = await start(new FakeProvider({ [ENDPOINT_TYPE]: CLUSTERS }));
    const stream = fixture.stream('sotw');
    stream.subscribe(ENDPOINT_TYPE, ['a', 'gone']);
    assert.deepEqual((await stream.taken(['a', 'gone'])).resources, { a: '1', gone: '' });
    fixture.provider.edit({ [ENDPOINT_TYPE]: { gone: '1' } });
    assert.deepEqual((await stream.taken(['a', 'gone'])).resources, { gone: '1' });
    fixture.provider.edit({ [ENDPOINT_TYPE]: { gone: undefined } });
    assert.deepEqual(await stream.settled(), [], 'a removal is not told: traffic would stop before the cluster goes');
  },
  ['sotw'],
);

xdsTest(
  'routes that do not exist are answered with an empty response',
  async (start) => {
    const fixture = await start(new FakeProvider({ [ROUTE_TYPE]: {} }));
    const stream = fixture.stream('sotw');
    stream.subscribe(ROUTE_TYPE, ['80']);
    assert.deepEqual((await stream.taken(['80'])).resources, {});
    fixture.provider.edit({ [ROUTE_TYPE]: { 80: '1' } });
    assert.deepEqual((await stream.taken(['80'])).resources, { 80: '1' });
  },
  ['sotw'],
);

xdsTest(
  'a cluster that is gone is missing in the next whole response',
  async (start) => {
    const fixture = await start(new FakeProvider({ [CLUSTER_TYPE]: CLUSTERS }));
    const stream = fixture.stream('sotw');
    stream.subscribe(CLUSTER_TYPE);
    await stream.taken();
    fixture.provider.edit({ [CLUSTER_TYPE]: { a: undefined, b: '2' } });
    assert.deepEqual((await stream.taken()).resources, { b: '2', c: '1' });
  },
  ['sotw'],
);

xdsTest(
  'only what changed or is gone is sent',
  async (start) => {
    const fixture = await start(new FakeProvider({ [CLUSTER_TYPE]: CLUSTERS }));
    const stream = fixture.stream('delta');
    stream.subscribe(CLUSTER_TYPE);
    await stream.taken();
    fixture.provider.edit({ [CLUSTER_TYPE]: { a: undefined, b: '2', d: '1' } });
    const { resources, removed } = await stream.taken();
    assert.deepEqual({ resources, removed }, { resources: { b: '2', d: '1' }, removed: ['a'] });
  },
  ['delta'],
);

xdsTest(
  'a name that does not exist is told as removed, and sent when it comes to be',
  async (start) => {
    const fixture = await start(new FakeProvider({ [ENDPOINT_TYPE]: CLUSTERS }));
    const stream = fixture.stream('delta');
    stream.subscribe(ENDPOINT_TYPE, ['a', 'x', 'y']);
    const { resources, removed } = await stream.taken();
    assert.deepEqual({ resources, removed }, { resources: { a: '1' }, removed: ['x', 'y'] });
    fixture.provider.edit({ [ENDPOINT_TYPE]: { x: '1' } });
    assert.deepEqual((await stream.taken()).resources, { x: '1' });
    fixture.provider.edit({ [ENDPOINT_TYPE]: { x: undefined } });
    assert.deepEqual((await stream.taken()).removed, ['x']);
    fixture.provider.edit({ [ENDPOINT_TYPE]: { x: '1' } });
    assert.deepEqual((await stream.taken()).resources, { x: '1' }, 'a removal does not end the subscription');
  },
  ['delta'],
);

xdsTest(
  'a name that is subscribed to again is sent again, alone',
  async (start) => {
    const fixture = await start(new FakeProvider({ [ENDPOINT_TYPE]: CLUSTERS }));
    const stream = fixture.stream('delta');
    stream.subscribe(ENDPOINT_TYPE, ['a', 'b']);
    const first = await stream.taken();
    stream.subscribe(ENDPOINT_TYPE, ['a']);
    const again = await stream.taken();
    assert.deepEqual(again.resources, { a: '1' });
    stream.subscribe(ENDPOINT_TYPE, ['a']);
    const third = await stream.next();
    assert.deepEqual(third.resources, { a: '1' });
    assert.notEqual(third.nonce, again.nonce);
    assert.notEqual(first.nonce, again.nonce);
  },
  ['delta'],
);

xdsTest(
  'subscriptions count although a response is not answered, and are answered after it',
  async (start) => {
    const fixture = await start(new FakeProvider({ [ENDPOINT_TYPE]: CLUSTERS }));
    const stream = fixture.stream('delta');
    stream.subscribe(ENDPOINT_TYPE, ['a']);
    const first = await stream.next();
    for (const name of ['b', 'c', 'x']) stream.subscribe(ENDPOINT_TYPE, [name]);
    assert.deepEqual(await stream.settled(), []);
    stream.ack(first);
    const { resources, removed } = await stream.next();
    assert.deepEqual({ resources, removed }, { resources: { b: '1', c: '1' }, removed: ['x'] });
  },
  ['delta'],
);

xdsTest(
  'a stale nonce does not hinder a subscription',
  async (start) => {
    const fixture = await start(new FakeProvider({ [ENDPOINT_TYPE]: CLUSTERS }));
    const stream = fixture.stream('delta');
    stream.subscribe(ENDPOINT_TYPE, ['a']);
    await stream.taken();
    stream.delta({ typeUrl: ENDPOINT_TYPE, resourceNamesSubscribe: ['b'], responseNonce: 'old' });
    assert.deepEqual((await stream.next()).resources, { b: '1' });
  },
  ['delta'],
);

xdsTest(
  'what is unsubscribed from is not sent any more',
  async (start) => {
    const fixture = await start(new FakeProvider({ [ENDPOINT_TYPE]: CLUSTERS }));
    const stream = fixture.stream('delta');
    stream.subscribe(ENDPOINT_TYPE, ['a', 'b']);
    await stream.taken();
    stream.delta({ typeUrl: ENDPOINT_TYPE, resourceNamesUnsubscribe: ['a', 'never'] });
    await stream.settled();
    fixture.provider.edit({ [ENDPOINT_TYPE]: { a: '2', b: undefined } });
    const { resources, removed } = await stream.taken();
    assert.deepEqual({ resources, removed }, { resources: {}, removed: ['b'] });
  },
  ['delta'],
);

xdsTest(
  'a name that the wildcard covers too is answered when it is unsubscribed from',
  async (start) => {
    const fixture = await start(new FakeProvider({ [CLUSTER_TYPE]: CLUSTERS }));
    const stream = fixture.stream('delta');
    stream.subscribe(CLUSTER_TYPE);
    await stream.taken();
    stream.subscribe(CLUSTER_TYPE, ['a', 'x']);
    const { resources, removed } = await stream.taken();
    assert.deepEqual({ resources, removed }, { resources: { a: '1' }, removed: ['x'] });
    stream.delta({ typeUrl: CLUSTER_TYPE, resourceNamesUnsubscribe: ['a', 'x'] });
    const after = await stream.taken();
    assert.deepEqual({ ...after.resources, removed: after.removed }, { a: '1', removed: ['x'] });
    stream.delta({ typeUrl: CLUSTER_TYPE, resourceNamesSubscribe: ['b'] });
    await stream.taken();
    stream.delta({ typeUrl: CLUSTER_TYPE, resourceNamesUnsubscribe: ['*'] });
    await stream.settled();
    fixture.provider.edit({ [CLUSTER_TYPE]: { a: '2', b: '2' } });
    assert.deepEqual((await stream.taken()).resources, { b: '2' });
    stream.delta({ typeUrl: CLUSTER_TYPE, resourceNamesUnsubscribe: ['b'] });
    await stream.settled();
    fixture.provider.edit({ [CLUSTER_TYPE]: { a: '3', b: '3' } });
    assert.deepEqual(await stream.settled(), []);
  },
  ['delta'],
);

xdsTest(
  'subscribing to and unsubscribing from "*" at first asks for nothing',
  async (start) => {
    const fixture = await start(new FakeProvider({ [CLUSTER_TYPE]: CLUSTERS }));
    const stream = fixture.stream('delta');
    const all = ['*'];
    stream.delta({ node: NODE, typeUrl: CLUSTER_TYPE, resourceNamesSubscribe: all, resourceNamesUnsubscribe: all });
    assert.deepEqual(await stream.settled(), []);
    stream.subscribe(CLUSTER_TYPE, ['a']);
    assert.deepEqual((await stream.taken()).resources, { a: '1' });
  },
  ['delta'],
);
