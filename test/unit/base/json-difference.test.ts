import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { deepEqual } from '../../../src/base/equal.ts';
import type { JsonValue } from '../../../src/base/json.ts';
import { jsonDifferences } from '../../../src/base/json-difference.ts';

const paths = (before: JsonValue, after: JsonValue): readonly string[] =>
  jsonDifferences(before, after).map(
    ({ path, before: b, after: a }) => `${path}: ${JSON.stringify(b)} ${JSON.stringify(a)}`,
  );

test('differences are told at the smallest place', () => {
  assert.deepEqual(paths({ a: { b: 1, c: [1, 2] } }, { a: { b: 2, c: [1, 2] }, d: true }), [
    'a.b: 1 2',
    'd: undefined true',
  ]);
  assert.deepEqual(paths(1, 'x'), [': 1 "x"']);
});

test('an element that comes or goes in a list leaves the others alone', () => {
  assert.deepEqual(paths({ l: [1, 2, 3] }, { l: [1, 9, 2, 3] }), ['l[1]: undefined 9']);
  assert.deepEqual(paths({ l: [1, 2, 3] }, { l: [1, 3] }), ['l[1]: 2 undefined']);
  assert.deepEqual(paths({ l: [{ x: 1 }, { x: 2 }] }, { l: [{ x: 1 }, { x: 3 }] }), ['l[1].x: 2 3']);
});

test('elements with names are compared by name, and their order is told when nothing else differs', () => {
  const a = { name: 'a', x: 1 };
  const b = { name: 'b', x: 1 };
  assert.deepEqual(paths({ l: [a, b] }, { l: [b, { ...a, x: 2 }] }), ['l[a].x: 1 2']);
  assert.deepEqual(paths({ l: [a, b] }, { l: [b, a] }), ['l in order: ["a","b"] ["b","a"]']);
});

test('there are differences exactly where values are not equal', () => {
  const value = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<JsonValue>;
  fc.assert(
    fc.property(value, value, (a, b) => {
      assert.deepEqual(jsonDifferences(a, a), []);
      assert.equal(jsonDifferences(a, b).length === 0, deepEqual(a, b));
    }),
    { numRuns: 300 },
  );
});
