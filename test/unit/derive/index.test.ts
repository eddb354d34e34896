import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Graph, type Index, type Input } from '../../../src/derive/graph.ts';

interface Pod {
  readonly apps: readonly string[];
  readonly ip: string;
}

interface Pods {
  readonly graph: Graph;
  readonly pods: Input<string, Pod>;
  readonly byApp: Index<string, string>;
  readonly ran: string[];
}

function somePods(): Pods {
  const ran: string[] = [];
  const graph = new Graph({ onCompute: (_, key) => ran.push(String(key)) });
  const pods = graph.input<string, Pod>('pod');
  const byApp = pods.index('app', (pod) => pod.apps);
  graph.batch(() => {
    pods.set('p2', { apps: ['web'], ip: '2' });
    pods.set('p10', { apps: ['web', 'db'], ip: '10' });
    pods.set('p1', { apps: ['db', 'db'], ip: '1' });
    pods.set('p3', { apps: [], ip: '3' });
  });
  return { graph, pods, byApp, ran };
}

test('a bucket holds its keys in order of code units', () => {
  const { byApp } = somePods();
  assert.deepEqual(byApp.get('web'), ['p10', 'p2']);
  assert.deepEqual(byApp.get('db'), ['p1', 'p10']);
  assert.deepEqual(byApp.get('none'), []);
});

test('a reader of one bucket runs when that bucket changes, and not for others', () => {
  const { graph, pods, byApp, ran } = somePods();
  const count = graph.derived('count', (app: string) => byApp.get(app).length);
  const watches = ['web', 'db', 'none'].map((app) => graph.watch(count, app));
  ran.length = 0;
  graph.batch(() => pods.set('p2', { apps: ['db'], ip: '2' }));
  assert.deepEqual(ran, ['web', 'db']);
  ran.length = 0;
  graph.batch(() => pods.set('p1', undefined));
  graph.batch(() => pods.set('p4', { apps: ['none'], ip: '4' }));
  assert.deepEqual(ran, ['db', 'none']);
  assert.deepEqual(
    watches.map((watch) => watch.value),
    [1, 2, 1],
  );
});

test('a value that changes within its buckets touches none of them', () => {
  const { graph, pods, byApp, ran } = somePods();
  const count = graph.derived('count', (app: string) => byApp.get(app).length);
  graph.watch(count, 'web');
  const before = byApp.get('web');
  ran.length = 0;
  graph.batch(() => pods.set('p2', { apps: ['web'], ip: '22' }));
  graph.batch(() => {
    pods.set('p2', undefined);
    pods.set('p2', { apps: ['web'], ip: '222' });
  });
  assert.deepEqual(ran, []);
  assert.equal(byApp.get('web'), before, 'the array stays the same while membership does');
});

test('an index that is made later knows the values from before', () => {
  const { graph, pods } = somePods();
  const byIp = pods.index('ip', (pod, key) => [pod.ip, key]);
  assert.deepEqual([byIp.get('2'), byIp.get('p2')], [['p2'], ['p2']]);
  graph.batch(() => pods.set('p2', undefined));
  assert.deepEqual(byIp.get('2'), []);
});

test('keys are sorted, and a change of a value does not touch them', () => {
  const { graph, pods, ran } = somePods();
  const names = graph.derived('names', () => pods.keys().join());
  const watch = graph.watch(names, '');
  ran.length = 0;
  graph.batch(() => pods.set('p2', { apps: [], ip: '5' }));
  assert.deepEqual([watch.value, ran], ['p1,p10,p2,p3', []]);
  graph.batch(() => {
    pods.set('p3', undefined);
    pods.set('p0', { apps: [], ip: '0' });
  });
  assert.equal(watch.value, 'p0,p1,p10,p2');
});

test('a bucket function that throws leaves the input and all indexes as they were', () => {
  const { graph, pods, byApp } = somePods();
  pods.index('strict', (pod) => {
    if (pod.ip === '') throw new Error('no address');
    return [pod.ip];
  });
  assert.throws(() => graph.batch(() => pods.set('p2', { apps: [], ip: '' })), new Error('no address'));
  assert.equal(pods.get('p2')?.ip, '2');
  assert.deepEqual(byApp.get('web'), ['p10', 'p2']);
});

test('objects serve as keys and as buckets', () => {
  const graph = new Graph();
  const [first, second, zone] = [Object.freeze({ n: 1 }), Object.freeze({ n: 2 }), Object.freeze({ zone: 'z' })];
  const input = graph.input<object, string>('input');
  const index = input.index<object>('zone', () => [zone]);
  graph.batch(() => {
    input.set(second, '2');
    input.set(first, '1');
  });
  assert.deepEqual(index.get(zone), [second, first], 'in the order in which they came');
});
