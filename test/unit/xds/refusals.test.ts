import assert from 'node:assert/strict';
import { test } from 'node:test';
import { namedIn, Refusals } from '../../../src/xds/refusals.ts';
import { Snapshots } from '../../../src/xds/snapshot.ts';
import { FakeSet, fakeResource } from '../../support/fake-provider.ts';

const CLUSTERS = ['outbound|80||a.b', 'outbound|80||a.b.c', 'outbound|80|v1|a.b', 'BlackHoleCluster', '80', ''].map(
  (name) => fakeResource(name, ''),
);
const named = (message: string): readonly string[] => namedIn(message, CLUSTERS).map(({ name }) => name);

test('the resources that a message names are found, and not those whose names are a part of another', () => {
  assert.deepEqual(named('Error adding/updating cluster(s) outbound|80||a.b.c: no such thing'), ['outbound|80||a.b.c']);
  assert.deepEqual(named('cluster outbound|80||a.b. It is wrong'), ['outbound|80||a.b']);
  assert.deepEqual(named('outbound|80||a.b: x, BlackHoleCluster: y'), ['outbound|80||a.b', 'BlackHoleCluster']);
  assert.deepEqual(named('"outbound|80|v1|a.b"'), ['outbound|80|v1|a.b']);
  assert.deepEqual(named('Proto constraint validation failed'), []);
  assert.deepEqual(named('route 80 of 8080'), ['80']);
  assert.deepEqual(named('xoutbound|80||a.b'), []);
});

test('a refusal holds until one of its versions changes or is gone', () => {
  const snapshots = new Snapshots();
  const set = new FakeSet({ a: '1', b: '1', c: '1', d: '1' });
  const refusals = new Refusals();
  const { changed } = snapshots.of(set).whole;
  refusals.add(changed.slice(0, 2), ['c']);
  assert.equal(refusals.size, 2);
  assert.deepEqual(
    changed.map((resource) => refusals.withholds(resource)),
    [true, true, false, false],
  );
  set.edit({ d: '2' });
  assert.deepEqual(refusals.release(snapshots.of(set)), []);
  set.edit({ b: undefined });
  assert.deepEqual(refusals.release(snapshots.of(set)), ['a', 'b', 'c']);
  assert.equal(refusals.size, 0);
});

test('what is asked for again is forgiven, the rest is not', () => {
  const snapshots = new Snapshots();
  const [a, b] = snapshots.of(new FakeSet({ a: '1', b: '1' })).whole.changed;
  assert.ok(a !== undefined && b !== undefined);
  const refusals = new Refusals();
  refusals.add([a, b], []);
  refusals.forgive(['a', 'x']);
  assert.deepEqual([refusals.withholds(a), refusals.withholds(b)], [false, true]);
  refusals.forgive(['b']);
  assert.equal(refusals.size, 0);
});
