import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Graph } from '../../../src/derive/graph.ts';

test('what no watch reaches is swept, and computed anew when it is wanted again', () => {
  let runs = 0;
  const graph = new Graph({ onCompute: () => runs++ });
  const input = graph.input<string, number>('input');
  const derived = graph.derived('derived', (key: string) => input.get(key) ?? 0);
  const watch = graph.watch(derived, 'kept');
  derived.get('loose');
  assert.equal(graph.cellCount, 5);
  assert.equal(graph.sweep(), 2);
  assert.equal(graph.sweep(), 0);
  derived.get('kept');
  assert.equal(runs, 2);
  derived.get('loose');
  assert.equal(runs, 3);
  watch.stop();
  assert.equal(graph.sweep(), 4);
  assert.equal(graph.cellCount, 0);
});

test('a cell lives as long as one of its readers does', () => {
  const graph = new Graph();
  const input = graph.input<string, number>('input');
  const shared = graph.derived('shared', () => input.get('a') ?? 0);
  const [one, two] = ['one', 'two'].map((name) =>
    graph.watch(
      graph.derived(name, () => shared.get('') + 1),
      '',
    ),
  );
  one?.stop();
  assert.equal(graph.sweep(), 1);
  graph.batch(() => input.set('a', 1));
  assert.equal(two?.value, 2);
});

test('a view that was swept still answers, as the view that has taken its place', () => {
  const graph = new Graph();
  const input = graph.input<string, number>('input');
  const collection = graph.collection('collection', {
    items: () => input.keys(),
    value: (item: string) => input.get(item),
  });
  graph.batch(() => input.set('a', 1));
  const old = collection.get('');
  const revision = old.revision;
  graph.sweep();
  graph.batch(() => input.set('b', 2));
  assert.deepEqual(
    [...old.entries()],
    [
      ['a', 1],
      ['b', 2],
    ],
  );
  assert.ok(old.revision > revision);
  assert.equal(old.changesSince(revision), undefined);
  const watch = graph.watch(collection, '');
  assert.notEqual(watch.value, old);
  assert.equal(old.revision, watch.value.revision);
});

test('a collection of which only an item is watched keeps that item, and its view object', () => {
  const graph = new Graph();
  const input = graph.input<string, number>('input');
  const collection = graph.collection('collection', {
    items: () => input.keys(),
    value: (item: string) => input.get(item),
  });
  graph.batch(() => {
    input.set('a', 1);
    input.set('b', 2);
  });
  const watch = graph.watch({ get: () => collection.item('', 'a') }, '');
  const view = collection.get('');
  graph.sweep();
  assert.equal(collection.get(''), view);
  graph.batch(() => input.set('a', 3));
  assert.deepEqual([watch.value, view.get('a')], [3, 3]);
  watch.stop();
  graph.sweep();
  assert.equal(graph.cellCount, 0);
});

test('the graph stays as small as it is over ten thousand edits, without anybody sweeping', () => {
  const graph = new Graph();
  const endpoints = graph.input<string, { host: string; address: string }>('endpoint');
  const byHost = endpoints.index('host', (endpoint) => [endpoint.host]);
  const hosts = graph.derived('hosts', () => [
    ...new Set(endpoints.keys().map((key) => endpoints.get(key)?.host ?? '')),
  ]);
  const addresses = graph.derived('addresses', (host: string) =>
    byHost
      .get(host)
      .map((key) => endpoints.get(key)?.address)
      .join(),
  );
  const sets = graph.collection('sets', {
    items: () => hosts.get(''),
    value: (host: string, scope: string) => `${scope}${addresses.get(host)}`,
  });
  const edit = (i: number): void => {
    graph.batch(() => {
      endpoints.set(`e${i % 50}`, { host: `h${i % 997}`, address: `10.0.0.${i % 256}` });
      if (i % 3 === 0) endpoints.set(`e${(i * 7) % 50}`, undefined);
    });
    if (i % 5 === 0) addresses.get(`h${i}`); // a passer-by
    if (i % 11 === 0) graph.watch(sets, `scope${i}`).stop();
  };
  const watches = ['a', 'b', 'c'].map((scope) => graph.watch(sets, scope));
  const most = (from: number, to: number): number => {
    let cells = 0;
    for (let i = from; i < to; i++) {
      edit(i);
      cells = Math.max(cells, graph.cellCount);
    }
    return cells;
  };
  const early = most(0, 1000);
  const late = most(1000, 10_000);
  assert.ok(late <= early * 1.2, `${early} cells at most in the first thousand edits, ${late} later`);
  for (const watch of watches) watch.stop();
  graph.sweep();
  assert.equal(graph.cellCount, 0);
});
