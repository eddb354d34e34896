import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { Cell } from '../../../src/derive/cell.ts';
import { follow, steps } from './model.ts';
import { program } from './program.ts';

const property = fc.property(program, steps, (definitions, todo) => follow(definitions, todo));

test('after any edits a graph equals a recomputation', () => fc.assert(property, { numRuns: 3000 }));

test('paranoid mode finds nothing to object to in pure derivations', () =>
  fc.assert(
    fc.property(program, steps, (definitions, todo) => follow(definitions, todo, { paranoid: true })),
    { numRuns: 500 },
  ));

/** Each takes a piece out of the tracking of dirtiness. */
const sabotages: readonly { readonly what: string; readonly method: string; readonly every: number }[] = [
  { what: 'every 20th mark is dropped', method: 'suspect', every: 20 },
  { what: 'every 20th change is not passed on', method: 'dependencyChanged', every: 20 },
  { what: 'every 20th changed input tells nobody', method: 'invalidate', every: 20 },
];

for (const { what, method, every } of sabotages) {
  test(`the comparison with a recomputation fails when ${what}`, (t) => {
    const methods = Cell.prototype as unknown as Record<string, (...args: unknown[]) => unknown>;
    const original = methods[method] as (...args: unknown[]) => unknown;
    let calls = 0;
    t.mock.method(methods, method, function (this: Cell, ...args: unknown[]) {
      return ++calls % every === 0 ? false : original.apply(this, args);
    });
    assert.ok(fc.check(property, { numRuns: 3000, endOnFailure: true }).failed);
  });
}
