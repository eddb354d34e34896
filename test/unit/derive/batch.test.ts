import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Derived, Graph, type Input } from '../../../src/derive/graph.ts';

interface Doubling {
  readonly graph: Graph;
  readonly input: Input<string, number>;
  readonly doubled: Derived<string, number>;
}

function doubling(): Doubling {
  const graph = new Graph();
  const input = graph.input<string, number>('input');
  return { graph, input, doubled: graph.derived('doubled', (key: string) => 2 * (input.get(key) ?? 0)) };
}

test('an input is set in a batch and nowhere else', () => {
  const { graph, input } = doubling();
  assert.throws(() => input.set('a', 1), /the input input is set outside of a batch/);
  const setting = graph.derived('setting', () => input.set('a', 1));
  const batching = graph.derived('batching', () => graph.batch(() => input.set('a', 1)));
  graph.batch(() => {
    assert.throws(() => setting.get(''), /is set in the derivation setting\(\), which may only read/);
    assert.throws(() => batching.get(''), /a batch in the derivation batching\(\)/);
  });
  assert.equal(input.get('a'), undefined);
});

test('an input says whether what is set is another value', () => {
  const graph = new Graph();
  const input = graph.input<string, number>('input', { equals: (a, b) => a % 10 === b % 10 });
  graph.batch(() => {
    assert.deepEqual(
      [1, 1, 11, 2, undefined, undefined].map((value) => input.set('a', value)),
      [true, false, false, true, true, false],
    );
  });
});

test('a derivation may neither watch, nor read a watch, nor sweep, nor explain', () => {
  const { graph, doubled } = doubling();
  const watch = graph.watch(doubled, 'a');
  for (const act of [
    () => graph.watch(doubled, 'a'),
    () => watch.value,
    () => graph.sweep(),
    () => graph.explain(doubled, 'a'),
  ]) {
    const acting = graph.derived<string, unknown>('acting', act);
    assert.throws(() => acting.get(''), /in the derivation acting\(\), which may only read/);
  }
});

test('a batch gives what its function returns, and counts as one revision if it changed something', () => {
  const { graph, input } = doubling();
  assert.equal(
    graph.batch(() => 'result'),
    'result',
  );
  assert.equal(graph.revision, 0);
  graph.batch(() => {
    input.set('a', 1);
    input.set('b', 1);
  });
  assert.equal(graph.revision, 1);
});

test('a batch within a batch is part of it', () => {
  const { graph, input, doubled } = doubling();
  const told: number[] = [];
  graph.watch(doubled, 'a', (value) => told.push(value));
  graph.batch(() => {
    graph.batch(() => input.set('a', 1));
    assert.deepEqual(told, []);
    input.set('a', 2);
  });
  assert.deepEqual([told, graph.revision], [[4], 1]);
});

test('within a batch one reads what has been set so far', () => {
  const { graph, input, doubled } = doubling();
  const seen = graph.batch(() => {
    input.set('a', 1);
    const first = doubled.get('a');
    input.set('a', 2);
    return [first, doubled.get('a')];
  });
  assert.deepEqual(seen, [2, 4]);
});

test('listeners are called oldest watch first, once a batch, when all watches are up to date', () => {
  const { graph, input, doubled } = doubling();
  const told: string[] = [];
  const watches = ['b', 'a', 'c'].map((key) =>
    graph.watch(doubled, key, (value) => told.push(`${key}=${value} of ${watches.map((watch) => watch.value)}`)),
  );
  graph.batch(() => {
    input.set('a', 1);
    input.set('b', 2);
  });
  assert.deepEqual(told, ['b=4 of 4,2,0', 'a=2 of 4,2,0']);
});

test('a listener is not called for an equal value, nor after its watch has stopped', () => {
  const { graph, input } = doubling();
  const isPositive = graph.derived('isPositive', (key: string) => (input.get(key) ?? 0) > 0);
  const told: unknown[] = [];
  const second = graph.watch(isPositive, 'a', (value) => {
    told.push(['first', value]);
    third.stop();
  });
  const third = graph.watch(isPositive, 'a', (value) => told.push(['second', value]));
  graph.batch(() => input.set('a', 1));
  graph.batch(() => input.set('a', 2));
  assert.deepEqual(told, [['first', true]]);
  second.stop();
  second.stop();
  graph.batch(() => input.set('a', -1));
  assert.deepEqual(told, [['first', true]]);
  assert.equal(second.value, true, 'a stopped watch keeps its last value');
});

test('a batch made by a listener is settled after the other listeners, as a revision of its own', () => {
  const { graph, input, doubled } = doubling();
  const told: string[] = [];
  graph.watch(doubled, 'a', (value) => {
    told.push(`first ${value}`);
    if (value < 4) graph.batch(() => input.set('a', value));
  });
  graph.watch(doubled, 'a', (value) => told.push(`second ${value}`));
  graph.batch(() => input.set('a', 1));
  assert.deepEqual(told, ['first 2', 'second 2', 'first 4', 'second 4']);
  assert.equal(graph.revision, 2);
});

test('what a batch had set before it threw is settled all the same', () => {
  const { graph, input, doubled } = doubling();
  const told: number[] = [];
  graph.watch(doubled, 'a', (value) => told.push(value));
  const half = (): void => {
    input.set('a', 1);
    throw new Error('half way');
  };
  assert.throws(() => graph.batch(half), new Error('half way'));
  assert.deepEqual([told, graph.revision], [[2], 1]);
});

test('an error in one watch or listener keeps no other from being told, and is thrown at the end', () => {
  const { graph, input, doubled } = doubling();
  const odd = graph.derived('odd', (key: string) => {
    if (input.get(key) === 3) throw new Error('three');
    return input.get(key);
  });
  const told: unknown[] = [];
  graph.watch(odd, 'a');
  graph.watch(odd, 'a');
  graph.watch(doubled, 'a', () => {
    throw new Error('listener');
  });
  graph.watch(doubled, 'a', (value) => told.push(value));
  assert.throws(() => graph.batch(() => input.set('a', 2)), new Error('listener'));
  assert.throws(
    () => graph.batch(() => input.set('a', 3)),
    (error: unknown) =>
      error instanceof AggregateError && error.errors.map(String).join() === 'Error: three,Error: listener',
  );
  assert.deepEqual(told, [4, 6]);
});

test('anything that has a get can be watched', () => {
  const { graph, input, doubled } = doubling();
  const told: unknown[] = [];
  graph.watch(input, 'a', (value) => told.push(value));
  graph.watch({ get: (key: string) => doubled.get(key) + doubled.get('b') }, 'a', (value) => told.push(value));
  graph.batch(() => input.set('a', 1));
  graph.batch(() => input.set('b', 2));
  assert.deepEqual(told, [1, 2, 6]);
});
