import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Graph } from '../../../src/derive/graph.ts';

test('paranoid mode finds a derivation that reads something beside the graph, when it is reused', () => {
  let hidden = 1;
  const graph = new Graph({ paranoid: true });
  const input = graph.input<string, number>('input');
  const leaky = graph.derived('leaky', (key: string) => ({ sum: (input.get(key) ?? 0) + hidden }));
  const above = graph.derived('above', (key: string) => leaky.get(key).sum + 1);
  assert.equal(above.get('a'), 2);
  assert.equal(above.get('a'), 2);
  hidden = 2;
  assert.throws(
    () => above.get('a'),
    /^Error: leaky\(a\) came to another value although nothing that it read has changed/,
  );
});

test('paranoid mode checks what a batch finds still valid', () => {
  let hidden = 1;
  const graph = new Graph({ paranoid: true });
  const input = graph.input<string, number>('input');
  const sign = graph.derived('sign', (key: string) => Math.sign(input.get(key) ?? 0));
  const leaky = graph.derived('leaky', (key: string) => sign.get(key) * hidden);
  graph.batch(() => input.set('a', 1));
  graph.watch(leaky, 'a');
  graph.batch(() => input.set('a', 2));
  hidden = 2;
  assert.throws(() => graph.batch(() => input.set('a', 3)), /leaky\(a\) came to another value/);
});

test('paranoid mode checks the items and the list of a collection', () => {
  let hidden = 1;
  let names = ['a'];
  const graph = new Graph({ paranoid: true });
  const valued = graph.collection('valued', {
    items: () => ['a', 'b'],
    value: (item: string) => (item === 'b' ? hidden : 0),
  });
  const listed = graph.collection('listed', { items: () => names, value: (item: string) => item });
  graph.watch(valued, 'all');
  graph.watch(listed, 'all');
  hidden = 2;
  assert.throws(() => valued.get('all'), /valued\(b\) came to another value/);
  names = ['a', 'b'];
  assert.throws(() => listed.get('all'), /listed\.items\(all\) came to another value/);
});

test('paranoid mode takes new objects of the same content for the same, and counts no runs of its own', () => {
  const ran: string[] = [];
  const graph = new Graph({ paranoid: true, onCompute: (name) => ran.push(name) });
  const input = graph.input<string, number>('input');
  const fresh = graph.derived('fresh', (key: string) => ({
    list: [input.get(key), new Map([[key, new Set([1])]])],
    bytes: new Uint8Array([1, 2]),
    label: () => key,
  }));
  const failing = graph.derived('failing', (): number => {
    throw new Error('always');
  });
  const watch = graph.watch(fresh, 'a');
  for (let times = 0; times < 3; times++) {
    assert.deepEqual(watch.value.bytes, new Uint8Array([1, 2]));
    assert.throws(() => failing.get(''), new Error('always'));
  }
  assert.deepEqual(ran, ['fresh', 'failing']);
});

test('without paranoid mode a reused cell is not computed', () => {
  let runs = 0;
  const graph = new Graph();
  const counted = graph.derived('counted', () => ++runs);
  assert.deepEqual([counted.get(''), counted.get('')], [1, 1]);
});
