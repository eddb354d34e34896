import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Interner } from '../../../src/base/intern.ts';
import { stillHeld } from '../../support/garbage.ts';

test('equal values are one object while somebody holds it, and no longer', async () => {
  const pool = new Interner<{ readonly a?: number; readonly b?: number }>();
  const held = pool.intern({ a: 1, b: 2 });
  const passing = new WeakRef(pool.intern({ a: 1 }));
  assert.equal(await stillHeld([passing]), 0);
  assert.equal(pool.intern({ b: 2, a: 1 }), held);
  assert.deepEqual(pool.intern({ a: 1 }), { a: 1 });
});
