import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inParallel } from '../../support/in-parallel.ts';

async function all<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const out: T[] = [];
  for await (const item of items) out.push(item);
  return out;
}

test('outcomes come in order of the items, whichever is ready first', async () => {
  const gates = [0, 1, 2].map(() => Promise.withResolvers<string>());
  const outcomes = inParallel([0, 1, 2], 3, (i) => gates[i]?.promise ?? Promise.resolve(''));
  const collected = all(outcomes);
  for (const i of [2, 0, 1]) gates[i]?.resolve(`item ${i}`);
  assert.deepEqual(await collected, ['item 0', 'item 1', 'item 2']);
});

test('no more run at a time than may', async () => {
  let running = 0;
  let most = 0;
  const run = async () => {
    most = Math.max(most, ++running);
    await Promise.resolve();
    running--;
  };
  await all(inParallel([1, 2, 3, 4, 5], 2, run));
  assert.equal(most, 2);
});

test('an error is thrown at its turn', async () => {
  const outcomes = inParallel([1, 2], 2, async (item) => {
    if (item === 2) throw new Error('two');
    return item;
  });
  assert.deepEqual(await outcomes.next(), { done: false, value: 1 });
  await assert.rejects(outcomes.next(), /two/);
});
