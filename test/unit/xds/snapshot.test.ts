import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { EMPTY_SNAPSHOT, resourceIn, Snapshots } from '../../../src/xds/snapshot.ts';
import { FakeSet } from '../../support/fake-provider.ts';

const names = (resources: readonly { readonly name: string }[]): readonly string[] => resources.map(({ name }) => name);

test('the same revision of a set is the same snapshot, and its difference from nothing is all of it', () => {
  const snapshots = new Snapshots();
  const set = new FakeSet({ b: '1', a: '1' });
  const snapshot = snapshots.of(set);
  assert.equal(snapshots.of(set), snapshot);
  assert.deepEqual(names(snapshot.whole.changed), ['a', 'b']);
  assert.equal(snapshots.difference(EMPTY_SNAPSHOT, snapshot), snapshot.whole);
  assert.equal(snapshots.of(undefined), EMPTY_SNAPSHOT);
});

test('the same two snapshots have the same difference, whoever asks', () => {
  const snapshots = new Snapshots();
  const set = new FakeSet({ a: '1', b: '1' });
  const before = snapshots.of(set);
  set.edit({ a: '2', b: undefined, c: '1' });
  const after = snapshots.of(set);
  const difference = snapshots.difference(before, after);
  assert.equal(snapshots.difference(before, after), difference);
  assert.deepEqual([names(difference.changed), difference.removed], [['a', 'c'], ['b']]);
});

test('a snapshot stays what it was when the set goes on', () => {
  const snapshots = new Snapshots();
  const set = new FakeSet({ a: '1' });
  const before = snapshots.of(set);
  const old = resourceIn(before, 'a');
  set.edit({ a: '2' });
  snapshots.of(set);
  assert.equal(resourceIn(before, 'a'), old);
});

const edit = fc.dictionary(
  fc.constantFrom(...'abcdefgh'),
  fc.option(fc.constantFrom('1', '2', '3'), { nil: undefined }),
);
const many = fc.dictionary(fc.stringMatching(/^[a-z]{3}$/), fc.option(fc.constantFrom('1', '2'), { nil: undefined }), {
  minKeys: 40,
});

test('a difference of any two snapshots, applied to the one, is the other, and has nothing needless', () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof({ weight: 5, arbitrary: edit }, many), { minLength: 1, maxLength: 12 }),
      fc.array(edit, { maxLength: 3 }),
      fc.nat({ max: 4 }),
      (edits, otherEdits, memory) => {
        const snapshots = new Snapshots();
        const set = new FakeSet({}, memory);
        const other = new FakeSet({});
        for (const texts of otherEdits) other.edit(texts);
        const taken = [snapshots.of(set), snapshots.of(other)];
        for (const texts of edits) {
          set.edit(texts);
          taken.push(snapshots.of(set));
        }
        const last = snapshots.of(set);
        assert.deepEqual(last.whole.changed, [...set.values()]);
        for (const [from, to] of [
          ...taken.map((snapshot) => [snapshot, last] as const),
          [last, snapshots.of(other)] as const,
        ]) {
          const { changed, removed } = snapshots.difference(from, to);
          const state = new Map(from.whole.changed.map((resource) => [resource.name, resource]));
          for (const resource of changed) {
            assert.notEqual(state.get(resource.name)?.version, resource.version);
            state.set(resource.name, resource);
          }
          for (const name of removed) assert.ok(state.delete(name));
          assert.deepEqual(
            new Map([...state].sort()),
            new Map(to.whole.changed.map((resource) => [resource.name, resource])),
          );
        }
      },
    ),
    { numRuns: 300 },
  );
});
