import assert from 'node:assert/strict';
import { CLUSTER_TYPE, ENDPOINT_TYPE, ROUTE_TYPE } from '../../src/proto/type-urls.ts';
import { FakeProvider } from '../support/fake-provider.ts';
import { xdsTest } from './harness.ts';

const CLUSTERS = { a: '1', b: '1', c: '1' };

xdsTest('a refused response is not sent again, is told and stands in the status', async (start, { variant }) => {
  const nacks: unknown[] = [];
  const events = { onNack: (...args: unknown[]) => nacks.push(args) };
  const fixture = await start(new FakeProvider({ [CLUSTER_TYPE]: CLUSTERS }), { events });
  const stream = fixture.stream(variant);
  stream.subscribe(CLUSTER_TYPE);
  const refused = await stream.next();
  stream.nack(refused, 'synthetic-refusal');
  fixture.provider.notify();
  fixture.clock.advance(60_000);
  assert.deepEqual(await stream.settled(), []);
  assert.equal(nacks.length, 1);
  const [told] = fixture.provider.last.nacks;
  assert.equal(told?.typeUrl, CLUSTER_TYPE);
  assert.equal(told?.nack.message, 'synthetic-refusal');
  assert.equal(told?.nack.code, 13);
  assert.equal(told?.nack.named, false);
  assert.deepEqual(
    told?.nack.resources.map(({ name }) => name),
    ['a', 'b', 'c'],
  );
  const [type] = fixture.discovery.streams()[0]?.types ?? [];
  assert.equal(type?.state, 'nacked');
  assert.equal(type?.nack?.message, 'synthetic-refusal');
  assert.equal(type?.withheld, 3);
});

xdsTest(
  'a change of anything refused brings all of it again, and an acknowledgement ends it',
  async (start, { variant }) => {
    const fixture = await start(new FakeProvider({ [CLUSTER_TYPE]: CLUSTERS }));
    const stream = fixture.stream(variant);
    stream.subscribe(CLUSTER_TYPE);
    stream.nack(await stream.next(), 'synthetic-refusal');
    fixture.provider.edit({ [CLUSTER_TYPE]: { b: '2' } });
    assert.deepEqual((await stream.taken()).resources, { ...CLUSTERS, b: '2' });
    assert.deepEqual(await stream.settled(), []);
    assert.equal(fixture.discovery.streams()[0]?.types[0]?.state, 'synced');
    assert.equal(fixture.discovery.streams()[0]?.types[0]?.withheld, 0);
  },
);

xdsTest('the rest of the set goes on; the client keeps what it last took', async (start, { variant }) => {
  const fixture = await start(new FakeProvider({ [CLUSTER_TYPE]: CLUSTERS }));
  const stream = fixture.stream(variant);
  stream.subscribe(CLUSTER_TYPE);
  await stream.taken();
  fixture.provider.edit({ [CLUSTER_TYPE]: { a: 'bad', d: 'bad' } });
  stream.nack(await stream.next(), 'Error adding/updating cluster(s) a: no such thing, d: neither');
  fixture.provider.edit({ [CLUSTER_TYPE]: { b: '2' } });
  const next = await stream.taken();
  assert.deepEqual(next.resources, variant === 'sotw' ? { a: '1', b: '2', c: '1' } : { b: '2' });
  fixture.provider.edit({ [CLUSTER_TYPE]: { a: '2' } });
  const fixed = await stream.taken();
  assert.deepEqual(fixed.resources, variant === 'sotw' ? { a: '2', b: '2', c: '1', d: 'bad' } : { a: '2', d: 'bad' });
});

xdsTest('what the message names is withheld, what came with it is not', async (start, { variant }) => {
  const fixture = await start(new FakeProvider({ [CLUSTER_TYPE]: CLUSTERS }));
  const stream = fixture.stream(variant);
  stream.subscribe(CLUSTER_TYPE);
  stream.nack(await stream.next(), 'Error adding/updating cluster(s) b: no such thing');
  assert.deepEqual(await stream.settled(), []);
  const [told] = fixture.provider.last.nacks;
  assert.equal(told?.nack.named, true);
  assert.deepEqual(
    told?.nack.resources.map(({ name }) => name),
    ['b'],
  );
  fixture.provider.edit({ [CLUSTER_TYPE]: { c: '2' } });
  assert.deepEqual((await stream.taken()).resources, variant === 'sotw' ? { a: '1', c: '2' } : { c: '2' });
});

xdsTest('a refused resource that is gone and comes back changed is sent', async (start, { variant }) => {
  const fixture = await start(new FakeProvider({ [ENDPOINT_TYPE]: CLUSTERS }));
  const stream = fixture.stream(variant);
  stream.subscribe(ENDPOINT_TYPE, ['a']);
  stream.nack(await stream.next(), 'no', ['a']);
  await stream.settled();
  fixture.provider.edit({ [ENDPOINT_TYPE]: { a: undefined } });
  for (const received of await stream.settled()) stream.ack(received, ['a']);
  fixture.provider.edit({ [ENDPOINT_TYPE]: { a: '2' } });
  assert.deepEqual((await stream.taken(['a'])).resources, { a: '2' });
});

xdsTest('a refusal of one type does not hinder another', async (start, { variant }) => {
  const fixture = await start(new FakeProvider({ [CLUSTER_TYPE]: CLUSTERS, [ROUTE_TYPE]: { 80: '1' } }));
  const stream = fixture.stream(variant);
  stream.subscribe(CLUSTER_TYPE);
  stream.nack(await stream.next(), 'no');
  stream.subscribe(ROUTE_TYPE, ['80']);
  assert.deepEqual((await stream.taken(['80'])).resources, { 80: '1' });
  fixture.provider.edit({ [ROUTE_TYPE]: { 80: '2' } });
  assert.deepEqual((await stream.taken(['80'])).resources, { 80: '2' });
});

xdsTest('a refusal with a stale nonce is none', async (start, { variant }) => {
  const fixture = await start(new FakeProvider({ [CLUSTER_TYPE]: CLUSTERS }));
  const stream = fixture.stream(variant);
  stream.subscribe(CLUSTER_TYPE);
  const received = await stream.taken();
  stream.nack({ ...received, nonce: 'old' }, 'no');
  assert.deepEqual(await stream.settled(), []);
  assert.deepEqual(fixture.provider.last.nacks, []);
  assert.deepEqual(fixture.provider.last.acks.length, 1);
});

xdsTest(
  'a refused resource that is subscribed to again by name is sent again',
  async (start) => {
    const fixture = await start(new FakeProvider({ [ENDPOINT_TYPE]: CLUSTERS }));
    const stream = fixture.stream('delta');
    stream.subscribe(ENDPOINT_TYPE, ['a', 'b']);
    stream.nack(await stream.next(), 'no');
    stream.subscribe(ENDPOINT_TYPE, ['b']);
    assert.deepEqual((await stream.taken()).resources, { b: '1' });
  },
  ['delta'],
);
