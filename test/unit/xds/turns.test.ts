import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as round } from 'node:timers/promises';
import { Turns } from '../../../src/xds/turns.ts';
import { FakeClock } from '../../support/fake-clock.ts';

/** Long enough for the next turn to come. */
async function turn(): Promise<void> {
  for (let i = 0; i < 17; i++) await round();
}

test('short work is done at once', () => {
  const turns = new Turns(new FakeClock());
  const done: number[] = [];
  for (const i of [1, 2, 3]) turns.run(() => done.push(i));
  assert.deepEqual(done, [1, 2, 3]);
});

test('long work is divided into turns, in the order in which it came', async () => {
  const clock = new FakeClock();
  const turns = new Turns(clock);
  const done: number[] = [];
  for (const i of [1, 2, 3, 4]) {
    turns.run(() => {
      done.push(i);
      clock.advance(i === 3 ? 1 : 50);
    });
  }
  assert.deepEqual(done, [1]);
  await turn();
  assert.deepEqual(done, [1, 2]);
  turns.run(() => done.push(5));
  assert.deepEqual(done, [1, 2]);
  await turn();
  assert.deepEqual(done, [1, 2, 3, 4]);
  await turn();
  assert.deepEqual(done, [1, 2, 3, 4, 5]);
});
