import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Graph } from '../../../src/derive/graph.ts';
import { unionCollection } from '../../../src/pipeline/union-collection.ts';

/** A union of a shared view, named by an input, and one of the key's own. */
function started() {
  const graph = new Graph({ paranoid: true });
  const values = graph.input<string, string>('value');
  const base = graph.input<string, string>('base');
  const views = graph.collection<string, string, string>('views', {
    items: (key) => values.keys().flatMap((name) => (name.startsWith(key) ? [name] : [])),
    value: (name) => values.get(name),
  });
  const key = Object.freeze({});
  const unions = unionCollection<object, string>(
    'union',
    () => [views.get(base.get('') ?? ''), views.get('own')],
    Object.is,
  );
  graph.batch(() => {
    base.set('', 'a');
    for (const name of ['a1', 'a2', 'b2', 'own1']) values.set(name, name);
  });
  let told = 0;
  const watch = graph.watch(unions, key, () => void told++);
  return { graph, values, base, watch, view: watch.value, told: () => told };
}

test('a union lists its parts in one order', () => {
  const { view, graph, values } = started();
  assert.deepEqual(
    [...view.entries()].map(([name]) => name),
    ['a1', 'a2', 'own1'],
  );
  graph.batch(() => values.set('own0', 'x'));
  assert.deepEqual(
    [...view.entries()].map(([name]) => name),
    ['a1', 'a2', 'own0', 'own1'],
  );
  assert.equal(view.size, 4);
  assert.equal(view.get('own0'), 'x');
  assert(!view.has('b2'));
});

test('a union tells what changed in any part, and that nothing did', () => {
  const { view, graph, values, told } = started();
  const { revision } = view;
  graph.batch(() => values.set('b2', 'unseen'));
  assert.deepEqual([view.revision, told()], [revision, 0]);
  graph.batch(() => {
    values.set('a1', 'new');
    values.set('own1', undefined);
  });
  assert.equal(told(), 1);
  assert.deepEqual(view.changesSince(revision), { changed: new Map([['a1', 'new']]), removed: ['own1'] });
  assert.deepEqual(view.changesSince(view.revision), { changed: new Map(), removed: [] });
});

test('a union whose shared part becomes another one stays the same object and tells the difference', () => {
  const { view, graph, values, base, watch, told } = started();
  const { revision } = view;
  graph.batch(() => {
    base.set('', 'b');
    values.set('b1', 'b1');
  });
  assert.equal(watch.value, view);
  assert.equal(told(), 1);
  assert.deepEqual(
    [...view.entries()].map(([name]) => name),
    ['b1', 'b2', 'own1'],
  );
  const changes = view.changesSince(revision);
  assert.deepEqual([...(changes?.changed.keys() ?? [])], ['b1', 'b2']);
  assert.deepEqual(changes?.removed, ['a1', 'a2']);
  assert.equal(view.changesSince(revision - 1), undefined);
});

test('an item of a union names what it is made from', () => {
  const { view } = started();
  assert.deepEqual(view.inputsOf('own1'), [{ input: 'value', key: 'own1' }]);
  assert.deepEqual(view.inputsOf('b2'), []);
});
