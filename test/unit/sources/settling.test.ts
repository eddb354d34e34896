import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseFile } from '../../../src/config/parse.ts';
import type { ParsedFile } from '../../../src/config/parsed.ts';
import type { FileStamp } from '../../../src/sources/file-tree.ts';
import { type Heard, isComplete, patience, unsettled } from '../../../src/sources/settling.ts';
import { entry } from './config-tree.ts';

const NOW = 1_000_000;
const WRITTEN: FileStamp = { size: 10, mtimeMs: NOW, ctimeMs: NOW, inode: 1, directoryId: 'd', isLink: false };
const RENAMED_OVER: Heard = { renames: 1, changes: 0, hasDeparted: true };

function complete(now: Partial<FileStamp>, before: Partial<FileStamp> | undefined, heard?: Heard): boolean {
  return isComplete({ ...WRITTEN, ...now }, before && { ...WRITTEN, ...before }, heard, NOW, 250);
}

function file(...documents: readonly string[]): ParsedFile {
  return parseFile('f.yaml', documents.join('---\n'), { source: 's', namespace: 'ns', strict: false });
}

function names(parsed: ParsedFile | undefined): string[] | undefined {
  return parsed?.configs
    .map(({ name, spec }) => `${name}${(spec as { ports: { number: number }[] }).ports[0]?.number}`)
    .sort();
}

test('a file that was renamed over another one is complete, also when its times say nothing', () => {
  assert.equal(complete({ inode: 2 }, {}, RENAMED_OVER), true);
  assert.equal(complete({}, undefined, RENAMED_OVER), true);
});

test('a file that was written in place, or made and written, may not be', () => {
  assert.equal(complete({}, {}, { renames: 0, changes: 1, hasDeparted: false }), false);
  assert.equal(complete({ inode: 2 }, {}, { renames: 2, changes: 1, hasDeparted: false }), false);
  assert.equal(complete({}, undefined, { renames: 1, changes: 0, hasDeparted: false }), false);
  assert.equal(complete({ inode: 2 }, {}), false);
});

test('a file is complete when its link, or its directory, was set to another', () => {
  assert.equal(complete({ inode: 2, isLink: true }, { isLink: true }), true);
  assert.equal(complete({ inode: 2, directoryId: 'e' }, {}), true);
  assert.equal(complete({ isLink: true }, { isLink: true }), false);
});

test('a file is complete that nobody has written to for some time, or that was moved after it was written', () => {
  assert.equal(complete({ mtimeMs: NOW - 250 }, {}), true);
  assert.equal(complete({ mtimeMs: NOW - 249, ctimeMs: NOW - 249 }, {}), false);
  assert.equal(complete({ ctimeMs: NOW + 1 }, undefined), true);
  assert.equal(complete({ ctimeMs: NOW + 1, size: 0 }, undefined), false);
});

test('of a file that is written all but the last document is taken, and nothing goes', () => {
  const before = file(entry('a'), entry('b'), entry('c'));
  assert.deepEqual(names(unsettled(file(entry('a', 81), entry('b', 82)), before)), ['a81', 'b80', 'c80']);
  assert.deepEqual(names(unsettled(file(), before)), ['a80', 'b80', 'c80']);
  assert.deepEqual(names(unsettled(file(entry('a'), entry('b')), undefined)), ['a80']);
});

test('a change before a last document that was there before is taken at once', () => {
  assert.equal(unsettled(file(entry('a', 81), entry('b')), file(entry('a'), entry('b'))), undefined);
});

test('refused documents of a file that is written keep holding what they hold', () => {
  const before = file(entry('a', 70000), 'just text\n', entry('b'));
  const part = unsettled(file(entry('b', 81)), before);
  assert.deepEqual(
    part?.refused.map(({ key }) => key?.split('/').at(-1)),
    ['a', undefined],
  );
});

test('a file that looks cut off must be still for longer', () => {
  const many = file(...Array.from({ length: 30 }, (_, i) => entry(`s${i}`)));
  const half = file(...Array.from({ length: 15 }, (_, i) => entry(`s${i}`)));
  assert.equal(patience(half, many, false), 4);
  assert.equal(patience(file(entry('a')), file(entry('a'), entry('b')), false), 1);
  assert.equal(patience(file(entry('a')), file(entry('a'), entry('b')), true), 4);
  assert.equal(patience(many, many, true), 1);
  assert.equal(patience(half, undefined, true), 1);
});
