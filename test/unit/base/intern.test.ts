import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Interner } from '../../../src/base/intern.ts';
import { letGo } from '../../support/garbage.ts';

test('equal values are one object while somebody holds it, and no longer', async () => {
  const pool = new Interner<{ readonly a?: number; readonly b?: number }>();
  let held: object | undefined = pool.intern({ a: 1, b: 2 });
  const seen = new WeakRef(held);
  await letGo();
  assert.equal(pool.intern({ b: 2, a: 1 }), held);
  assert.notEqual(pool.intern({ a: 1 }), held);
  held = undefined;
  await letGo();
  assert.equal(seen.deref(), undefined);
  assert.deepEqual(pool.intern({ b: 2, a: 1 }), { a: 1, b: 2 });
});
