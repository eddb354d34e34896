import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { SendWindow } from '../../../src/xds/send-window.ts';
import { FakeClock } from '../../support/fake-clock.ts';

test('who waits is admitted in order, one in a turn, as long as there is room', async () => {
  const window = new SendWindow(100, 3_000, new FakeClock());
  const leave = window.hold(100);
  assert.equal(window.full, true);
  const admitted: string[] = [];
  for (const name of ['a', 'b', 'c', 'd']) {
    window.wait(() => {
      admitted.push(name);
      if (name === 'b') window.hold(100);
    });
  }
  leave();
  assert.deepEqual(admitted, []);
  await turn();
  assert.deepEqual(admitted, ['a']);
  for (let i = 0; i < 5; i++) await turn();
  assert.deepEqual(admitted, ['a', 'b']);
});

test('bytes leave once, however often that is said', () => {
  const window = new SendWindow(100, 3_000, new FakeClock());
  const leave = window.hold(60);
  window.hold(60);
  leave();
  leave();
  assert.equal(window.full, false);
  window.hold(40);
  assert.equal(window.full, true);
});

test('bytes that nobody reads count for a while only', async () => {
  const clock = new FakeClock();
  const window = new SendWindow(100, 3_000, clock);
  window.hold(500);
  let admitted = 0;
  window.wait(() => admitted++);
  clock.advance(2_999);
  await turn();
  assert.equal(admitted, 0);
  clock.advance(1);
  await turn();
  assert.equal(admitted, 1);
});

test('who lost interest is not called', async () => {
  const window = new SendWindow(100, 3_000, new FakeClock());
  const leave = window.hold(100);
  const called: string[] = [];
  const gone = (): void => void called.push('gone');
  window.wait(gone);
  window.wait(() => called.push('here'));
  window.forget(gone);
  leave();
  await turn();
  assert.deepEqual(called, ['here']);
});
