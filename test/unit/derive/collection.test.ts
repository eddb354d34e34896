import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Collection, Graph, type Input } from '../../../src/derive/graph.ts';

interface Shop {
  readonly graph: Graph;
  /** Price by name. */
  readonly stock: Input<string, number>;
  /** Of each tenth part: the goods whose price is not negative, by name, rounded down. */
  readonly goods: Collection<string, string, number>;
  readonly ran: string[];
}

function shop(): Shop {
  const ran: string[] = [];
  const graph = new Graph({ onCompute: (name, key) => ran.push(`${name} ${String(key)}`) });
  const stock = graph.input<string, number>('stock');
  const goods = graph.collection('goods', {
    items: () => stock.keys(),
    value: (name: string) => {
      const price = stock.get(name) ?? 0;
      if (price === 13) throw new Error('unlucky');
      return price < 0 ? undefined : Math.floor(price);
    },
  });
  graph.batch(() => {
    stock.set('pear', 2.5);
    stock.set('apple', 1);
    stock.set('fig', -1);
  });
  return { graph, stock, goods, ran };
}

test('a view is a sorted map of the items that have a value', () => {
  const { goods } = shop();
  const view = goods.get('all');
  assert.deepEqual(
    [...view.entries()],
    [
      ['apple', 1],
      ['pear', 2],
    ],
  );
  assert.deepEqual([view.size, view.get('pear'), view.has('fig'), view.get('plum')], [2, 2, false, undefined]);
});

test('only the items that changed are read again, and the list only when it changed', () => {
  const { graph, stock, goods, ran } = shop();
  graph.watch(goods, 'all');
  assert.deepEqual(ran.sort(), ['goods apple', 'goods fig', 'goods pear', 'goods.items all']);
  ran.length = 0;
  graph.batch(() => stock.set('pear', 3));
  assert.deepEqual(ran, ['goods pear']);
  ran.length = 0;
  graph.batch(() => stock.set('plum', 4));
  assert.deepEqual(ran, ['goods.items all', 'goods plum']);
  ran.length = 0;
  graph.batch(() => stock.set('apple', undefined));
  assert.deepEqual(ran, ['goods.items all'], 'what has left the list is not read');
});

test('the view stays one object, whose revision grows when its content changes and only then', () => {
  const { graph, stock, goods } = shop();
  const told: number[] = [];
  const watch = graph.watch(goods, 'all', (view) => told.push(view.revision));
  const view = watch.value;
  const first = view.revision;
  graph.batch(() => stock.set('pear', 2.7));
  graph.batch(() => stock.set('fig', -2));
  graph.batch(() => stock.set('date', -3));
  assert.deepEqual([view.revision, told], [first, []]);
  graph.batch(() => stock.set('pear', 5));
  assert.equal(watch.value, view);
  assert.equal(goods.get('all'), view);
  assert.ok(view.revision > first);
  assert.deepEqual(told, [view.revision]);
});

test('changes since a revision are merged, and tell only of what was there', () => {
  const { graph, stock, goods } = shop();
  const view = graph.watch(goods, 'all').value;
  const start = view.revision;
  graph.batch(() => stock.set('pear', 3));
  const middle = view.revision;
  graph.batch(() => stock.set('pear', 4));
  graph.batch(() => stock.set('plum', 7));
  graph.batch(() => {
    stock.set('plum', undefined);
    stock.set('apple', -1);
    stock.set('fig', 9);
  });
  assert.deepEqual(view.changesSince(start), {
    changed: new Map([
      ['fig', 9],
      ['pear', 4],
    ]),
    removed: ['apple'],
  });
  assert.deepEqual(view.changesSince(middle), view.changesSince(start));
  assert.deepEqual(view.changesSince(view.revision), { changed: new Map(), removed: [] });
  assert.equal(view.changesSince(0), undefined);
});

test('changes that are too long ago, or too many, are no longer told', () => {
  const { graph, stock, goods } = shop();
  const view = graph.watch(goods, 'all').value;
  const start = view.revision;
  for (let price = 3; price < 100; price++) if (price !== 13) graph.batch(() => stock.set('pear', price));
  assert.equal(view.changesSince(start), undefined);
  const later = view.revision;
  graph.batch(() => {
    for (let i = 0; i < 200; i++) stock.set(`nut${i}`, 1);
  });
  assert.equal(view.changesSince(later), undefined);
  const latest = view.revision;
  graph.batch(() => stock.set('nut7', 2));
  assert.deepEqual(view.changesSince(latest), { changed: new Map([['nut7', 2]]), removed: [] });
});

test('who reads the view runs again when it changes, also by way of a derivation that hands it on', () => {
  const { graph, stock, goods } = shop();
  const handed = graph.derived('handed', (key: string) => goods.get(key));
  const total = graph.derived('total', (key: string) => {
    let sum = 0;
    for (const [, price] of handed.get(key).entries()) sum += price;
    return sum;
  });
  const direct = graph.derived('direct', (key: string) => goods.get(key).size);
  const told: unknown[] = [];
  graph.watch(total, 'all', (value) => told.push(['total', value]));
  graph.watch(direct, 'all', (value) => told.push(['direct', value]));
  graph.watch(handed, 'all', (view) => told.push(['handed', view.size]));
  graph.batch(() => stock.set('plum', 10));
  assert.deepEqual(told, [
    ['total', 13],
    ['direct', 3],
    ['handed', 3],
  ]);
});

test('a reader of one item runs for that item only', () => {
  const { graph, stock, goods, ran } = shop();
  const label = graph.derived('label', (name: string) => `${name} costs ${goods.item('all', name) ?? 'nothing'}`);
  const watch = graph.watch(label, 'pear');
  assert.deepEqual(ran.sort(), ['goods pear', 'goods.items all', 'label pear'], 'the other items are not computed');
  ran.length = 0;
  graph.batch(() => stock.set('apple', 7));
  graph.batch(() => stock.set('plum', 7));
  assert.deepEqual(ran, ['goods.items all']);
  graph.batch(() => stock.set('pear', 8));
  assert.equal(watch.value, 'pear costs 8');
  graph.batch(() => stock.set('pear', undefined));
  assert.equal(watch.value, 'pear costs nothing');
  graph.batch(() => stock.set('pear', 1));
  assert.equal(watch.value, 'pear costs 1');
});

test('an item shares its value with the view that holds it', () => {
  const { graph, stock, goods, ran } = shop();
  graph.watch({ get: () => goods.item('all', 'pear') }, '');
  graph.watch(goods, 'all');
  ran.length = 0;
  graph.batch(() => stock.set('pear', 9));
  assert.deepEqual(ran, ['goods pear']);
});

test('an item that throws is an error of the whole view, until it can be read or has left', () => {
  const { graph, stock, goods } = shop();
  const told: number[] = [];
  const watch = graph.watch(goods, 'all', (view) => told.push(view.size));
  const before = watch.value.revision;
  assert.throws(
    () =>
      graph.batch(() => {
        stock.set('apple', 8);
        stock.set('pear', 13);
        stock.set('plum', 4);
      }),
    new Error('unlucky'),
  );
  assert.throws(() => watch.value.size, new Error('unlucky'));
  assert.throws(() => graph.batch(() => stock.set('apple', 9)), new Error('unlucky'));
  assert.equal(goods.item('all', 'apple'), 9, 'the other items can be read one by one');
  graph.batch(() => stock.set('pear', undefined));
  assert.deepEqual(
    [...watch.value.entries()],
    [
      ['apple', 9],
      ['plum', 4],
    ],
  );
  assert.deepEqual(watch.value.changesSince(before), {
    changed: new Map([
      ['apple', 9],
      ['plum', 4],
    ]),
    removed: ['pear'],
  });
  assert.deepEqual(told, [2]);
});

test('items may repeat, come in any order, and be objects', () => {
  const graph = new Graph();
  const [x, y] = [Object.freeze({ name: 'x' }), Object.freeze({ name: 'y' })];
  const mixed = graph.collection<string, string | object, string>('mixed', {
    items: () => [y, 'b', x, 'a', 'b', y],
    value: (item) => JSON.stringify(item),
  });
  assert.deepEqual(
    [...mixed.get('').entries()].map(([item]) => item),
    ['a', 'b', y, x],
  );
  assert.equal(mixed.item('', x), '{"name":"x"}');
  assert.equal(mixed.item('', 'c'), undefined);
});

test('a value is kept while it is equal', () => {
  const graph = new Graph();
  const input = graph.input<string, number>('input');
  const boxes = graph.collection('boxes', {
    items: () => ['a'],
    value: (item: string) => ({ half: Math.floor((input.get(item) ?? 0) / 2) }),
    equals: (a, b) => a.half === b.half,
  });
  const view = graph.watch(boxes, '').value;
  const [box, revision] = [view.get('a'), view.revision];
  graph.batch(() => input.set('a', 1));
  assert.deepEqual([view.get('a') === box, view.revision], [true, revision]);
});

test('an item names what it is made from, and not what the listing reads', () => {
  const { graph, stock, goods } = shop();
  const parts = graph.collectionOfParts('parts', {
    parts: () => new Map(stock.keys().map((name) => [name, stock.get(name) ?? 0])),
    value: (name: string, price: number) => goods.item('all', name) ?? price,
  });
  assert.deepEqual(goods.get('all').inputsOf('pear'), [{ input: 'stock', key: 'pear' }]);
  assert.deepEqual(goods.get('all').inputsOf('fig'), []);
  assert.deepEqual(goods.get('all').inputsOf('plum'), []);
  assert.deepEqual(
    parts
      .get('')
      .inputsOf('fig')
      .map(({ input, key }) => `${input} ${key}`),
    ['stock fig', 'stock.keys '],
  );
  const asking = graph.derived('asking', () => goods.get('all').inputsOf('pear'));
  assert.throws(() => asking.get(''), /which may only read/);
});
