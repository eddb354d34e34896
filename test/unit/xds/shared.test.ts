import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { EncodedResource, ResourceDelta, ResourceSet } from '../../../src/proto/resource-set.ts';
import { NameSets } from '../../../src/xds/name-sets.ts';
import { Snapshots } from '../../../src/xds/snapshot.ts';
import { Subscription } from '../../../src/xds/subscription.ts';
import { WholeLists } from '../../../src/xds/whole-lists.ts';
import { fakeResource } from '../../support/fake-provider.ts';

const many = (prefix: string, count = 100): readonly string[] =>
  Array.from({ length: count }, (_, i) => `${prefix}-${i}`);

test('streams that ask for the same names, in whatever order and by whatever requests, hold one set', () => {
  const sets = new NameSets();
  const [listed, again, added] = [new Subscription(sets), new Subscription(sets), new Subscription(sets)];
  listed.replace(many('a'), false);
  again.replace(many('a').toReversed(), false);
  assert.equal(again.names, listed.names);
  added.add(many('a').slice(0, 50));
  added.settle();
  added.add(many('a').slice(40));
  added.settle();
  assert.equal(added.names, listed.names);
});

test('a stream that asks for something else changes nobody else', () => {
  const sets = new NameSets();
  const [one, other] = [new Subscription(sets), new Subscription(sets)];
  for (const subscription of [one, other]) {
    subscription.add(many('a'));
    subscription.settle();
  }
  assert.equal(one.names, other.names);
  other.delete(['a-7']);
  other.add(['b']);
  assert.deepEqual([one.has('a-7'), one.has('b'), one.size], [true, false, 100]);
  assert.deepEqual([other.has('a-7'), other.has('b'), other.size], [false, true, 100]);
});

test('shared or not, a subscription has the names that it was told', () => {
  const name = fc.integer({ min: 0, max: 150 }).map((i) => `n-${i}`);
  const list = fc.uniqueArray(name, { maxLength: 120 });
  const step = fc.record({
    which: fc.nat({ max: 2 }),
    how: fc.constantFrom('add', 'delete', 'replace', 'settle'),
    list,
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const sets = new NameSets();
      const streams = Array.from({ length: 3 }, () => ({
        subscription: new Subscription(sets),
        names: new Set<string>(),
      }));
      for (const { which, how, list } of steps) {
        const stream = streams[which] as (typeof streams)[number];
        if (how === 'settle') stream.subscription.settle();
        else stream.subscription[how](list, undefined as never);
        if (how === 'add') for (const each of list) stream.names.add(each);
        if (how === 'delete') for (const each of list) stream.names.delete(each);
        if (how === 'replace') stream.names = new Set(list);
        for (const { subscription, names } of streams) assert.deepEqual(new Set(subscription.names), names);
      }
    }),
  );
});

test('lists of the very same resources are one, and part when one of them changes', () => {
  const lists = new WholeLists();
  const resources = many('r').map((name) => fakeResource(name, '1'));
  const one = lists.of([...resources]);
  assert.equal(lists.of([...resources]), one);
  assert.deepEqual(one.changed, resources);
  const changed = resources.with(3, fakeResource('r-3', '2'));
  assert.deepEqual(lists.of(changed).changed, changed);
  assert.notEqual(lists.of(changed), one);
  assert.notEqual(lists.of(resources.slice(1)), one);
});

/** A set of resources that others have, too. */
function setOf(resources: readonly EncodedResource[]): ResourceSet & { change(change: ResourceDelta): void } {
  const held = new Map(resources.map((resource) => [resource.name, resource]));
  let last: ResourceDelta = { changed: [], removed: [] };
  const set = {
    revision: 1,
    get size() {
      return held.size;
    },
    get: (name: string) => held.get(name),
    values: () => held.values(),
    changesSince: () => last,
    change(change: ResourceDelta): void {
      last = change;
      for (const resource of change.changed) held.set(resource.name, resource);
      for (const name of change.removed) held.delete(name);
      set.revision++;
    },
  };
  return set;
}

test('sets that are equal and change alike stay one list; one that changes otherwise parts', () => {
  const snapshots = new Snapshots();
  const resources = many('r').map((name) => fakeResource(name, '1'));
  const sets = [setOf(resources), setOf(resources), setOf(resources)] as const;
  const change: ResourceDelta = { changed: [fakeResource('r-3', '2')], removed: ['r-4'] };
  assert.equal(new Set(sets.map((set) => snapshots.of(set).whole)).size, 1);
  for (const set of sets) set.change(set === sets[2] ? { ...change, removed: [] } : { ...change });
  const [one, other, third] = sets.map((set) => snapshots.of(set).whole.changed) as [
    EncodedResource[],
    EncodedResource[],
    EncodedResource[],
  ];
  assert.equal(one, other);
  assert.equal(snapshots.of(setOf(one)).whole.changed, one);
  assert.deepEqual([one.length, third.length], [99, 100]);
  assert.ok(one.every(({ name }) => name !== 'r-4'));
});
