import assert from 'node:assert/strict';
import { CLUSTER_TYPE } from '../../src/proto/type-urls.ts';
import { FakeProvider } from '../support/fake-provider.ts';
import { xdsTest } from './harness.ts';

const LENGTH = 6_000_000;

xdsTest('a response that a client has not read yet is not written over by later ones', async (start, { variant }) => {
  const limits = { frameCacheBytes: 2 * LENGTH };
  const fixture = await start(new FakeProvider({ [CLUSTER_TYPE]: { a: '1', b: '1' } }), { limits });
  const [slow, fast] = [fixture.stream(variant), fixture.stream(variant)];
  slow.subscribe(CLUSTER_TYPE, ['a']);
  await slow.taken(['a']);
  fast.subscribe(CLUSTER_TYPE, ['b']);
  await fast.taken(['b']);
  slow.pause();
  // A client that is paused still takes in some responses; those after them stay with the server.
  const small = Array.from({ length: 40 }, (_, i) => `${i}`);
  for (const a of [...small, 'a'.repeat(LENGTH)]) {
    fixture.provider.edit({ [CLUSTER_TYPE]: { a } });
    fixture.clock.advance(10_000);
    await fast.settled();
  }
  const letters = 'bcdefgh';
  for (const letter of letters) {
    fixture.provider.edit({ [CLUSTER_TYPE]: { b: letter.repeat(LENGTH) } });
    const { resources } = await fast.taken(['b']);
    assert.equal(resources['b'] === letter.repeat(LENGTH), true, `${letter} came as it was sent`);
  }
  slow.resume();
  for (const text of small) assert.equal((await slow.taken(['a'])).resources['a'], text);
  const { resources } = await slow.taken(['a']);
  assert.equal(resources['a'] === 'a'.repeat(LENGTH), true, 'what waited came as it was sent');
});
