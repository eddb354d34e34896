import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Graph } from '../../../src/derive/graph.ts';

interface Part {
  readonly from: string;
}

function setUp(log: string[] = []) {
  const graph = new Graph({ onCompute: (name, key) => log.push(`${name} ${String(key)}`) });
  const listing = graph.input<string, ReadonlyMap<string, Part>>('listing');
  const values = graph.input<string, string>('values');
  const shown = graph.collectionOfParts<string, string, Part, string>('shown', {
    parts: (key) => listing.get(key) ?? new Map(),
    value: (item, { from }) => {
      const value = values.get(from);
      return value === undefined ? undefined : `${item}:${value}`;
    },
  });
  return { graph, listing, values, shown, log };
}

const A: Part = { from: 'a' };
const B: Part = { from: 'b' };

test('only items whose part is another object are read again when the listing changes', () => {
  const { graph, listing, values, shown, log } = setUp();
  graph.batch(() => {
    values.set('a', '1');
    values.set('b', '2');
    listing.set(
      'k',
      new Map([
        ['x', A],
        ['y', B],
      ]),
    );
  });
  const watch = graph.watch(shown, 'k');
  log.length = 0;
  const before = watch.value.revision;
  graph.batch(() =>
    listing.set(
      'k',
      new Map([
        ['x', B],
        ['y', B],
        ['z', A],
      ]),
    ),
  );
  assert.deepEqual(log.sort(), ['shown x', 'shown z', 'shown.items k']);
  assert.deepEqual(
    [...watch.value.entries()],
    [
      ['x', 'x:2'],
      ['y', 'y:2'],
      ['z', 'z:1'],
    ],
  );
  assert.deepEqual(
    [...(watch.value.changesSince(before)?.changed ?? [])],
    [
      ['x', 'x:2'],
      ['z', 'z:1'],
    ],
  );
});

test('a change below one item asks no other item', () => {
  const { graph, listing, values, shown, log } = setUp();
  graph.batch(() => {
    values.set('a', '1');
    values.set('b', '2');
    listing.set(
      'k',
      new Map([
        ['x', A],
        ['y', B],
      ]),
    );
  });
  const watch = graph.watch(shown, 'k');
  log.length = 0;
  graph.batch(() => values.set('b', '3'));
  assert.deepEqual(log, ['shown y']);
  assert.equal(watch.value.get('y'), 'y:3');
});

test('a single item is right before and after its part changes, whoever reads it first', () => {
  const { graph, listing, values, shown } = setUp();
  graph.batch(() => {
    values.set('a', '1');
    values.set('b', '2');
    listing.set('k', new Map([['x', A]]));
  });
  const single = graph.derived<string, string>('single', (item) => shown.item('k', item) ?? 'none');
  const watch = graph.watch(single, 'x');
  assert.equal(watch.value, 'x:1');
  graph.batch(() => listing.set('k', new Map([['x', B]])));
  assert.equal(watch.value, 'x:2');
  graph.batch(() => listing.set('k', new Map()));
  assert.equal(watch.value, 'none');
});

test('after any edits a collection of parts equals a recomputation', () => {
  const name = fc.constantFrom('a', 'b', 'c', 'd');
  const edit = fc.oneof(
    fc.record({ kind: fc.constant('value' as const), key: name, value: fc.option(name, { nil: undefined }) }),
    fc.record({ kind: fc.constant('list' as const), entries: fc.array(fc.tuple(name, name), { maxLength: 5 }) }),
  );
  fc.assert(
    fc.property(fc.array(fc.array(edit, { maxLength: 4 }), { maxLength: 12 }), fc.boolean(), (batches, paranoid) => {
      const parts = new Map(['a', 'b', 'c', 'd'].map((from) => [from, { from }]));
      const graph = new Graph({ paranoid });
      const listing = graph.input<string, ReadonlyMap<string, Part>>('listing');
      const values = graph.input<string, string>('values');
      const shown = graph.collectionOfParts<string, string, Part, string>('shown', {
        parts: (key) => listing.get(key) ?? new Map(),
        value: (item, { from }) => values.get(from) && `${item}:${values.get(from)}`,
      });
      const watch = graph.watch(shown, 'k');
      const state = new Map<string, string>();
      let list = new Map<string, Part>();
      for (const batch of batches) {
        graph.batch(() => {
          for (const e of batch) {
            if (e.kind === 'value') {
              values.set(e.key, e.value);
              if (e.value === undefined) state.delete(e.key);
              else state.set(e.key, e.value);
            } else {
              list = new Map(e.entries.map(([item, from]) => [item, parts.get(from) as Part]));
              listing.set('k', list);
            }
          }
        });
        const expected = [...list]
          .flatMap(([item, { from }]) => (state.has(from) ? [[item, `${item}:${state.get(from)}`]] : []))
          .sort();
        assert.deepEqual([...watch.value.entries()], expected);
      }
    }),
    { numRuns: 500 },
  );
});
