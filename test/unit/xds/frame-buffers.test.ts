import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FrameBuffers } from '../../../src/xds/frame-buffers.ts';

const KB = 1024;

test('a large buffer that was given back is taken again for what fits it, and no other', () => {
  const buffers = new FrameBuffers(1024 * KB);
  const first = buffers.take(100 * KB);
  assert.equal(first.length, 100 * KB);
  assert.notEqual(buffers.take(100 * KB).buffer, first.buffer, 'it is in use');
  buffers.give(first);
  assert.notEqual(buffers.take(200 * KB).buffer, first.buffer, 'it is too small');
  assert.notEqual(buffers.take(20 * KB).buffer, first.buffer, 'it is kept for what is larger');
  const again = buffers.take(110 * KB);
  assert.equal(again.buffer, first.buffer);
  assert.equal(again.length, 110 * KB);
  assert.notEqual(buffers.take(100 * KB).buffer, first.buffer, 'it is in use again');
});

test('no more than so many bytes wait to be used again', () => {
  const buffers = new FrameBuffers(256 * KB);
  const taken = [1, 2, 3].map(() => buffers.take(128 * KB));
  for (const buffer of taken) buffers.give(buffer);
  const again = [1, 2, 3].map(() => buffers.take(128 * KB).buffer);
  assert.equal(again.filter((buffer) => taken.some((known) => known.buffer === buffer)).length, 2);
});
