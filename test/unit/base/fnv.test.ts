import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { fnv1a32 } from '../../../src/base/fnv.ts';

/** As it is defined: over bytes. */
function reference(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}

test('the published vectors', () => {
  assert.equal(fnv1a32(''), 0x811c9dc5);
  assert.equal(fnv1a32('a'), 0xe40c292c);
  assert.equal(fnv1a32('foobar'), 0xbf9cf968);
});

test('texts of whatever characters hash as their bytes in UTF-8', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => assert.equal(fnv1a32(text), reference(text))));
  assert.equal(fnv1a32('web.münchen'), reference('web.münchen'));
});
