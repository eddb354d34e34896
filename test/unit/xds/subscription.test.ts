import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Subscription } from '../../../src/xds/subscription.ts';

function look(subscription: Subscription): unknown {
  const { wildcard, size, owesAll, owesAnswer, owed } = subscription;
  return { wildcard, size, owesAll, owesAnswer, owed: [...owed] };
}

test('the example of the protocol, state of the world: nothing, "*" and A, A, nothing', () => {
  const subscription = new Subscription();
  subscription.replace([], true);
  assert.deepEqual(look(subscription), { wildcard: true, size: 0, owesAll: true, owesAnswer: true, owed: [] });
  subscription.settle();
  subscription.replace(['*', 'A'], true);
  assert.deepEqual(look(subscription), { wildcard: true, size: 1, owesAll: false, owesAnswer: true, owed: ['A'] });
  subscription.settle();
  subscription.replace(['A'], true);
  assert.deepEqual(look(subscription), { wildcard: false, size: 1, owesAll: false, owesAnswer: false, owed: [] });
  subscription.replace([], true);
  assert.equal(subscription.active, false);
});

test('the example of the protocol, incremental: nothing, A, no "*", no A', () => {
  const subscription = new Subscription();
  subscription.subscribeToAll();
  subscription.add(['A']);
  assert.deepEqual(look(subscription), { wildcard: true, size: 1, owesAll: false, owesAnswer: false, owed: ['A'] });
  subscription.settle();
  subscription.delete(['*']);
  assert.deepEqual(look(subscription), { wildcard: false, size: 1, owesAll: false, owesAnswer: false, owed: [] });
  subscription.delete(['A']);
  assert.equal(subscription.active, false);
});

test('what is dropped before it was sent is not owed any more', () => {
  const subscription = new Subscription();
  subscription.add(['A', 'B']);
  subscription.delete(['A']);
  assert.deepEqual([...subscription.owed], ['B']);
  const listed = new Subscription();
  listed.replace(['A', 'B'], false);
  listed.replace(['B'], false);
  assert.deepEqual([...listed.owed], ['B']);
});

test('of names that the client says it has, none is owed', () => {
  const subscription = new Subscription();
  subscription.add(['A', 'B', '*'], new Map([['A', '1']]));
  assert.deepEqual(look(subscription), { wildcard: true, size: 2, owesAll: false, owesAnswer: false, owed: ['B'] });
});
