import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { nearestName } from '../../../src/base/nearest-name.ts';

/** By the definition: the last letters are the same, one of them is new, lost or another one, or the last two are swapped. */
function distance(a: string, b: string): number {
  if (a === '' || b === '') return a.length + b.length;
  const [restA, restB] = [a.slice(0, -1), b.slice(0, -1)];
  const isSwapped = a.length > 1 && b.length > 1 && a.at(-1) === b.at(-2) && a.at(-2) === b.at(-1);
  return Math.min(
    distance(restA, restB) + Number(a.at(-1) !== b.at(-1)),
    distance(restA, b) + 1,
    distance(a, restB) + 1,
    isSwapped ? distance(a.slice(0, -2), b.slice(0, -2)) + 1 : Number.POSITIVE_INFINITY,
  );
}

test('of names that few edits turn into another the first that needs fewest is nearest', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(word, fc.array(word, { maxLength: 5 }), fc.integer({ min: 0, max: 4 }), (name, names, most) => {
      const distances = names.map((other) => distance(name, other));
      const fewest = Math.min(...distances);
      const expected = fewest > most ? undefined : names[distances.indexOf(fewest)];
      assert.equal(nearestName(name, names, most), expected);
    }),
  );
});

test('a third of the letters may differ, whatever their case', () => {
  assert.equal(nearestName('Revies.mesh', ['ratings.mesh', 'reviews.mesh']), 'reviews.mesh');
  assert.equal(nearestName('abc', ['xbc']), 'xbc');
  assert.equal(nearestName('abc', ['xyc']), undefined);
});
