import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { test } from 'node:test';
import { decodeDeltaDiscoveryResponse, decodeDiscoveryResponse } from '../../../src/proto/discovery.ts';
import type { ResourceDelta } from '../../../src/proto/resource-set.ts';
import { CLUSTER_TYPE } from '../../../src/proto/type-urls.ts';
import { delta } from '../../../src/xds/delta.ts';
import { Frames } from '../../../src/xds/frames.ts';
import { SYSTEM_CLOCK } from '../../../src/xds/limits.ts';
import { SendWindow } from '../../../src/xds/send-window.ts';
import { sotw } from '../../../src/xds/sotw.ts';
import { fakeResource } from '../../support/fake-provider.ts';

const content = (text: string, removed: readonly string[] = []): ResourceDelta => ({
  changed: [fakeResource('a', text)],
  removed,
});
const roomy = (): SendWindow => new SendWindow(Number.MAX_SAFE_INTEGER, 1_000, SYSTEM_CLOCK);
const large = (seed: string): ResourceDelta => content(seed.repeat(2_000));

test('a frame is the message behind a flag and its length', () => {
  const frames = new Frames(1_000_000, 'istiod', roomy());
  const { bytes, nonce, version } = frames.frame(sotw, CLUSTER_TYPE, content('1'), '');
  assert.equal(bytes.readUInt8(0), 0);
  assert.equal(bytes.readUInt32BE(1), bytes.length - 5);
  const read = decodeDiscoveryResponse(bytes.subarray(5));
  assert.deepEqual([read.typeUrl, read.nonce, read.versionInfo], [CLUSTER_TYPE, nonce, version]);
  assert.equal(read.controlPlane?.identifier, 'istiod');
  const incremental = decodeDeltaDiscoveryResponse(
    frames.frame(delta, CLUSTER_TYPE, content('1', ['b']), '').bytes.subarray(5),
  );
  assert.deepEqual(incremental.removedResources, ['b']);
  assert.equal(incremental.resources[0]?.version, fakeResource('a', '1').version);
});

test('equal content is the same bytes; other content, type, variant or nonce is not', () => {
  const frames = new Frames(1_000_000, '', roomy());
  const first = frames.frame(delta, CLUSTER_TYPE, large('1'), '');
  assert.equal(frames.frame(delta, CLUSTER_TYPE, large('1'), 'other').bytes, first.bytes);
  assert.notEqual(frames.frame(delta, CLUSTER_TYPE, large('2'), '').bytes, first.bytes);
  assert.notEqual(frames.frame(delta, 'type.googleapis.com/x', large('1'), '').bytes, first.bytes);
  assert.notEqual(frames.frame(sotw, CLUSTER_TYPE, large('1'), '').bytes, first.bytes);
  const again = frames.frame(delta, CLUSTER_TYPE, large('1'), first.nonce);
  assert.notEqual(again.nonce, first.nonce);
  assert.equal(again.version, first.version);
  assert.equal(frames.frame(delta, CLUSTER_TYPE, large('1'), again.nonce).nonce, first.nonce);
});

test('names that run into each other do not make equal versions', () => {
  const frames = new Frames(1_000_000, '', roomy());
  const resource = (name: string, version: string) => ({ name, version, bytes: new Uint8Array() });
  const versions = [
    { changed: [resource('a', 'b'), resource('c', 'd')], removed: [] },
    { changed: [resource('a\nb\nc', 'd')], removed: [] },
    { changed: [resource('a', 'b\nc\nd')], removed: [] },
    { changed: [resource('a', 'b')], removed: ['c', 'd'] },
    { changed: [resource('a', 'b')], removed: ['c\nd'] },
  ].map((each) => frames.version(each));
  assert.equal(new Set(versions).size, versions.length);
});

test('frames are kept up to a number of bytes, the least used goes first, the newest is always kept', () => {
  const frames = new Frames(10_000, '', roomy());
  const shared = (text: string): boolean => frames.frame(delta, CLUSTER_TYPE, large(text), '').shared;
  for (const text of ['1', '2', '3', '4']) assert.equal(shared(text), false);
  assert.equal(shared('1'), true);
  assert.equal(shared('5'), false);
  assert.equal(shared('1'), true);
  assert.equal(shared('2'), false, 'it was the least used');
  const huge = content('x'.repeat(100_000));
  assert.equal(frames.frame(delta, CLUSTER_TYPE, huge, '').shared, false);
  assert.equal(frames.frame(delta, CLUSTER_TYPE, huge, '').shared, true);
});

test('bytes are used again once the cache and every reader have let go of them', () => {
  const frames = new Frames(300_000, '', roomy());
  const of = (letter: string) => frames.frame(delta, CLUSTER_TYPE, content(letter.repeat(200_000)), '');
  const first = of('a');
  const alsoFirst = of('a');
  const before = Buffer.from(first.bytes);
  first.release();
  const second = of('b');
  second.release();
  assert.deepEqual(first.bytes, before, 'somebody still reads it');
  alsoFirst.release();
  const third = of('c');
  assert.equal(third.bytes.buffer, first.bytes.buffer);
  assert.notEqual(third.bytes.buffer, second.bytes.buffer, 'the cache had it until now');
});

test('a resource in pieces is not put together for a frame', () => {
  const frames = new Frames(1_000_000, '', roomy());
  const { bytes, ...about } = fakeResource('a', 'text');
  const inPieces = {
    ...about,
    pieces: { size: bytes.length, parts: () => [bytes.subarray(0, 3), bytes.subarray(3)] },
    get bytes(): Uint8Array {
      throw new Error('its pieces were to be taken');
    },
  };
  for (const protocol of [sotw, delta]) {
    const whole = new Frames(1_000_000, '', roomy()).frame(protocol, CLUSTER_TYPE, content('text'), '').bytes;
    assert.deepEqual(frames.frame(protocol, CLUSTER_TYPE, { changed: [inPieces], removed: [] }, '').bytes, whole);
  }
});
