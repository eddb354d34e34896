import assert from 'node:assert/strict';
import { CLUSTER_TYPE, ENDPOINT_TYPE } from '../../src/proto/type-urls.ts';
import { FakeProvider } from '../support/fake-provider.ts';
import { xdsTest } from './harness.ts';

const CLUSTERS = { a: '1', b: '1', c: '1' };

xdsTest('what changes while a response is not answered is one response afterwards', async (start, { variant }) => {
  const fixture = await start(new FakeProvider({ [CLUSTER_TYPE]: CLUSTERS }));
  const stream = fixture.stream(variant);
  stream.subscribe(CLUSTER_TYPE);
  const first = await stream.next();
  for (let i = 0; i < 50; i++) fixture.provider.edit({ [CLUSTER_TYPE]: { a: `${i}`, b: undefined } });
  assert.deepEqual(await stream.settled(), []);
  stream.ack(first);
  const { resources, removed } = await stream.taken();
  if (variant === 'sotw') assert.deepEqual(resources, { a: '49', c: '1' });
  else assert.deepEqual({ resources, removed }, { resources: { a: '49' }, removed: ['b'] });
  assert.deepEqual(await stream.settled(), []);
});

xdsTest('what changed and changed back is nothing', async (start, { variant }) => {
  const fixture = await start(new FakeProvider({ [CLUSTER_TYPE]: CLUSTERS }));
  const stream = fixture.stream(variant);
  stream.subscribe(CLUSTER_TYPE);
  const first = await stream.next();
  fixture.provider.edit({ [CLUSTER_TYPE]: { a: '2', b: undefined, d: '1' } });
  fixture.provider.edit({ [CLUSTER_TYPE]: { ...CLUSTERS, d: undefined } });
  stream.ack(first);
  assert.deepEqual(await stream.settled(), []);
});

xdsTest('a client that does not answer is sent the newest state after a while', async (start, { variant }) => {
  const fixture = await start(new FakeProvider({ [CLUSTER_TYPE]: CLUSTERS }));
  const stream = fixture.stream(variant);
  stream.subscribe(CLUSTER_TYPE);
  const first = await stream.next();
  fixture.provider.edit({ [CLUSTER_TYPE]: { a: '2' } });
  fixture.provider.edit({ [CLUSTER_TYPE]: { a: '3' } });
  fixture.clock.advance(3_000);
  const second = await stream.next();
  assert.equal(second.resources['a'], '3');
  stream.ack(first);
  assert.equal(fixture.discovery.streams()[0]?.types[0]?.state, 'pending');
  stream.ack(second);
  await stream.settled();
  assert.equal(fixture.discovery.streams()[0]?.types[0]?.state, 'synced');
});

xdsTest('a client that does not read is owed only the newest state', async (start, { variant }) => {
  const fixture = await start(new FakeProvider({ [CLUSTER_TYPE]: CLUSTERS, [ENDPOINT_TYPE]: CLUSTERS }));
  const stream = fixture.stream(variant);
  for (const typeUrl of [CLUSTER_TYPE, ENDPOINT_TYPE]) {
    stream.subscribe(typeUrl, ['*']);
    await stream.taken(['*']);
  }
  await stream.settled();
  stream.pause();
  const sent = fixture.pushes.length;
  const large = 'x'.repeat(2_000_000);
  for (let i = 0; i < 30; i++) {
    fixture.provider.edit({ [CLUSTER_TYPE]: { a: `${i}${large}` }, [ENDPOINT_TYPE]: { a: `${i}` } });
    fixture.clock.advance(10_000);
  }
  assert.equal(fixture.pushes.length, sent + 1, 'one response is under way, nothing is queued behind it');
  stream.resume();
  const seen: string[] = [];
  while (seen.at(-1) !== `${ENDPOINT_TYPE} 29`) {
    const { typeUrl, resources } = await stream.taken(['*']);
    seen.push(`${typeUrl} ${Number.parseInt(resources['a'] ?? '', 10)}`);
  }
  assert.deepEqual(seen.slice(0, 3), [`${CLUSTER_TYPE} 0`, `${CLUSTER_TYPE} 29`, `${ENDPOINT_TYPE} 29`]);
});

xdsTest('streams that are sent the same are sent the same bytes, made once', async (start, { variant }) => {
  const text = 'x'.repeat(1_000);
  const large = { a: text, b: text, c: text };
  const fixture = await start(new FakeProvider({ [CLUSTER_TYPE]: large, [ENDPOINT_TYPE]: large }));
  const streams = Array.from({ length: 20 }, () => fixture.stream(variant));
  const types: readonly string[] = [CLUSTER_TYPE, ENDPOINT_TYPE];
  for (const stream of streams) {
    stream.subscribe(CLUSTER_TYPE);
    await stream.taken();
    stream.subscribe(ENDPOINT_TYPE, ['a', 'b', 'c']);
    await stream.taken(['a', 'b', 'c']);
    await stream.settled();
  }
  fixture.provider.edit({ [CLUSTER_TYPE]: { d: text }, [ENDPOINT_TYPE]: { a: `2${text}`, b: undefined } });
  for (const stream of streams) await stream.settled();
  const ofTypes = fixture.pushes.filter(({ typeUrl }) => types.includes(typeUrl));
  assert.equal(ofTypes.length, 4 * streams.length);
  assert.equal(ofTypes.filter(({ shared }) => !shared).length, 4);
});

xdsTest('a stream that ends lets go of its session and leaves no timer', async (start, { variant }) => {
  const closed: string[] = [];
  const events = { onStreamClose: (_: unknown, reason: string) => closed.push(reason) };
  const fixture = await start(new FakeProvider({ [CLUSTER_TYPE]: CLUSTERS }), { events });
  const stream = fixture.stream(variant);
  stream.subscribe(CLUSTER_TYPE);
  await stream.next();
  fixture.provider.edit({ [CLUSTER_TYPE]: { a: '2' } });
  assert.equal(fixture.clock.timers, 1);
  stream.end();
  assert.equal((await stream.ended()).code, 0);
  assert.deepEqual(closed, ['the client ended the stream']);
  assert.equal(fixture.provider.last.closed, true);
  assert.equal(fixture.clock.timers, 0);
  assert.deepEqual(fixture.discovery.streams(), []);
  fixture.provider.edit({ [CLUSTER_TYPE]: { a: '3' } });
});
