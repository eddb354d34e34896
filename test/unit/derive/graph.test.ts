import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Graph } from '../../../src/derive/graph.ts';

/** A graph that counts what runs. */
function counting(): { graph: Graph; ran: string[] } {
  const ran: string[] = [];
  const graph = new Graph({
    onCompute: (name, key) => ran.push(`${name} ${typeof key === 'string' ? key : 'object'}`),
  });
  return { graph, ran };
}

test('nothing runs unless it is read or watched', () => {
  const { graph, ran } = counting();
  const input = graph.input<string, number>('input');
  const doubled = graph.derived('doubled', (key: string) => 2 * (input.get(key) ?? 0));
  graph.batch(() => input.set('a', 1));
  assert.deepEqual(ran, []);
  assert.equal(doubled.get('a'), 2);
  graph.batch(() => input.set('a', 2));
  assert.deepEqual(ran, ['doubled a']);
});

test('a watched cell is recomputed once a batch, and only when something that it read has changed', () => {
  const { graph, ran } = counting();
  const input = graph.input<string, number>('input');
  const total = graph.derived('total', () => (input.get('a') ?? 0) + (input.get('b') ?? 0));
  const watch = graph.watch(total, '');
  graph.batch(() => {
    input.set('a', 1);
    input.set('b', 2);
  });
  graph.batch(() => input.set('c', 3));
  assert.equal(watch.value, 3);
  assert.deepEqual(ran, ['total ', 'total ']);
});

test('an equal value is backdated: what reads it does not run', () => {
  const { graph, ran } = counting();
  const input = graph.input<string, number>('input');
  const positive = graph.derived('positive', (key: string) => ({ is: (input.get(key) ?? 0) > 0 }), {
    equals: (a, b) => a.is === b.is,
  });
  const text = graph.derived('text', (key: string) => `${key}: ${positive.get(key).is}`);
  graph.batch(() => input.set('a', 1));
  graph.watch(text, 'a');
  const before = positive.get('a');
  graph.batch(() => input.set('a', 2));
  assert.deepEqual(ran, ['text a', 'positive a', 'positive a']);
  assert.equal(positive.get('a'), before, 'the value is still the same object');
  graph.batch(() => input.set('a', -2));
  assert.deepEqual(ran.slice(3), ['positive a', 'text a']);
});

test('an input that is set to an equal value, or set and set back, has not changed', () => {
  const { graph, ran } = counting();
  const input = graph.input<string, { n: number }>('input', { equals: (a, b) => a.n === b.n });
  const copy = graph.derived('copy', (key: string) => input.get(key)?.n);
  graph.batch(() => input.set('a', { n: 1 }));
  graph.watch(copy, 'a');
  assert.equal(graph.revision, 1);
  graph.batch(() => input.set('a', { n: 1 }));
  assert.equal(graph.revision, 1);
  graph.batch(() => {
    input.set('a', undefined);
    input.set('a', { n: 1 });
  });
  assert.deepEqual(ran, ['copy a']);
});

test('what was read last time decides: a dependency that is no longer read does not matter', () => {
  const { graph, ran } = counting();
  const input = graph.input<string, string>('input');
  const follow = graph.derived('follow', () => input.get(input.get('which') ?? 'a'));
  graph.watch(follow, '');
  graph.batch(() => input.set('a', 'first'));
  graph.batch(() => input.set('which', 'b'));
  ran.length = 0;
  graph.batch(() => input.set('a', 'second'));
  assert.deepEqual(ran, []);
  graph.batch(() => input.set('b', 'third'));
  assert.deepEqual([ran, follow.get('')], [['follow '], 'third']);
});

test('a cell that is read only because of an earlier one is not run when that one has changed', () => {
  const { graph, ran } = counting();
  const input = graph.input<string, number>('input');
  const size = graph.derived('size', () => input.get('size') ?? 0);
  const element = graph.derived('element', (key: string) => {
    if (Number(key) >= (input.get('size') ?? 0)) throw new RangeError(`no element ${key}`);
    return 10 * Number(key);
  });
  const last = graph.derived('last', () => (size.get('') > 0 ? element.get(String(size.get('') - 1)) : -1));
  graph.batch(() => input.set('size', 2));
  const watch = graph.watch(last, '');
  ran.length = 0;
  graph.batch(() => input.set('size', 1));
  assert.deepEqual([ran, watch.value], [['size ', 'last ', 'element 0'], 0]);
});

test('keys may be interned objects: they are compared by identity', () => {
  const { graph, ran } = counting();
  const input = graph.input<object, number>('input');
  const derived = graph.derived('derived', (key: object) => input.get(key));
  const [one, other] = [Object.freeze({}), Object.freeze({})];
  graph.batch(() => input.set(one, 1));
  assert.deepEqual([derived.get(one), derived.get(other), derived.get(one)], [1, undefined, 1]);
  assert.deepEqual(ran, ['derived object', 'derived object']);
});

test('a chain of a thousand derivations is followed', () => {
  const { graph } = counting();
  const input = graph.input<string, number>('input');
  const chain = graph.derived('chain', (key: string): number =>
    key === '0' ? (input.get('') ?? 0) : 1 + chain.get(String(Number(key) - 1)),
  );
  const watch = graph.watch(chain, '1000');
  graph.batch(() => input.set('', 5));
  assert.equal(watch.value, 1005);
});

test('a derivation that reads itself under ever new keys is an error that says so', () => {
  const { graph } = counting();
  const endless = graph.derived('endless', (key: string): number => endless.get(`${key}'`));
  assert.throws(() => endless.get('x'), /nested more than \d+ deep: … reads endless\(x'+\) reads/);
});

test('a cycle is an error that names the cells, and is over when its cause is', () => {
  const { graph } = counting();
  const input = graph.input<string, string>('input');
  const next = graph.derived('next', (key: string): string => {
    const to = input.get(key);
    return to === undefined ? key : next.get(to);
  });
  graph.batch(() => {
    input.set('a', 'b');
    input.set('b', 'c');
    input.set('c', 'b');
  });
  assert.throws(() => next.get('a'), new Error('derivations form a cycle: next(b) reads next(c) reads next(b)'));
  assert.throws(() => next.get('c'), /cycle/);
  graph.batch(() => input.set('c', undefined));
  assert.equal(next.get('a'), 'c');
  assert.equal(next.get('b'), 'c');
});

test('an error reaches every reader, and is tried again when something that was read changes', () => {
  const { graph, ran } = counting();
  const input = graph.input<string, number>('input');
  const root = graph.derived('root', (key: string) => {
    const n = input.get(key) ?? 0;
    if (n < 0) throw new RangeError(`${n} is negative`);
    return Math.sqrt(n);
  });
  const text = graph.derived('text', (key: string) => `root ${root.get(key)}`);
  graph.batch(() => input.set('a', -1));
  for (let times = 0; times < 2; times++) assert.throws(() => text.get('a'), new RangeError('-1 is negative'));
  assert.deepEqual(ran, ['text a', 'root a'], 'reading again does not run it again');
  assert.throws(() => graph.watch(text, 'a'), new RangeError('-1 is negative'));
  graph.batch(() => input.set('a', 4));
  const watch = graph.watch(text, 'a');
  assert.equal(watch.value, 'root 2');
  assert.throws(() => graph.batch(() => input.set('a', -2)), new RangeError('-2 is negative'));
  assert.throws(() => watch.value, new RangeError('-2 is negative'));
  graph.batch(() => input.set('a', 9));
  assert.equal(watch.value, 'root 3');
});

test('a derivation may catch what it reads', () => {
  const { graph } = counting();
  const input = graph.input<string, number>('input');
  const strict = graph.derived('strict', (key: string) => {
    if (input.get(key) === undefined) throw new Error('absent');
    return input.get(key);
  });
  const lenient = graph.derived('lenient', (key: string) => {
    try {
      return strict.get(key);
    } catch {
      return -1;
    }
  });
  const watch = graph.watch(lenient, 'a');
  assert.equal(watch.value, -1);
  graph.batch(() => input.set('a', 1));
  assert.equal(watch.value, 1);
});

test('an equality that throws is an error of its derivation', () => {
  const { graph } = counting();
  const input = graph.input<string, number>('input');
  const derived = graph.derived('derived', (key: string) => input.get(key), {
    equals: () => {
      throw new Error('cannot compare');
    },
  });
  const watch = graph.watch(derived, 'a');
  assert.throws(() => graph.batch(() => input.set('a', 1)), new Error('cannot compare'));
  graph.batch(() => input.set('a', 2));
  assert.equal(watch.value, 2);
});

test('explain names the inputs and index buckets below a cell, sorted', () => {
  const { graph } = counting();
  const services = graph.input<string, { host: string }>('service');
  const mesh = graph.input<object, string>('mesh');
  const byHost = services.index('host', (service) => [service.host]);
  const facet = graph.derived('facet', () => mesh.get(key));
  const key = Object.freeze({ part: 'timeouts' });
  const cluster = graph.derived('cluster', (host: string) => [
    facet.get(''),
    byHost.get(host).map((name) => services.get(name)),
  ]);
  const clusters = graph.collection('clusters', { items: () => services.keys(), value: () => cluster.get('x') });
  graph.batch(() => {
    services.set('1', { host: 'x' });
    services.set('2', { host: 'y' });
  });
  const below = [
    { input: 'mesh', key: '{"part":"timeouts"}' },
    { input: 'service', key: '1' },
    { input: 'service.host', key: 'x' },
  ];
  assert.deepEqual(graph.explain(cluster, 'x'), below);
  assert.deepEqual(graph.explain(clusters, ''), [...below, { input: 'service.keys', key: '' }]);
  assert.deepEqual(graph.explain(services, '1'), [{ input: 'service', key: '1' }]);
});

test('explain names the inputs of a derivation that throws', () => {
  const { graph } = counting();
  const input = graph.input<string, number>('input');
  const failing = graph.derived('failing', (key: string) => {
    throw new Error(`bad ${input.get(key)}`);
  });
  assert.deepEqual(graph.explain(failing, 'a'), [{ input: 'input', key: 'a' }]);
});
