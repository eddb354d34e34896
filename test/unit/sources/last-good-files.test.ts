import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Config } from '../../../src/config/config.ts';
import { parseFile } from '../../../src/config/parse.ts';
import { LastGoodFiles } from '../../../src/sources/last-good-files.ts';
import { entry } from './config-tree.ts';

interface Place {
  readonly directory: string;
  readonly path: string;
  readonly warnings: string[];
  open(): LastGoodFiles;
}

function place(t: TestContext): Place {
  const parent = mkdtempSync(join(tmpdir(), 'istiod-last-good-'));
  t.after(() => rmSync(parent, { recursive: true, force: true }));
  const directory = join(parent, 'last-good');
  const warnings: string[] = [];
  const log = { info: () => {}, warn: (text: string) => warnings.push(text) };
  const path = join(directory, 'objects.jsonl');
  return { directory, path, warnings, open: () => new LastGoodFiles({ directory, log }) };
}

function config(name: string, port = 80, file = 'ns/f.yaml'): Config {
  const [parsed] = parseFile(file, entry(name, port), { source: 's', namespace: 'ns', strict: false }).configs;
  assert.ok(parsed);
  return parsed;
}

function names(files: LastGoodFiles, source = 's'): string[] {
  return files.load(source).map(({ key, text }) => `${key.split('/').at(-1)} ${/"number":(\d+)/.exec(text)?.[1]}`);
}

test('copies outlive the process, private to its user', async (t) => {
  const { open, directory, path } = place(t);
  const files = open();
  files.save('s', { whole: true, put: [config('a'), config('b')], removed: [] });
  files.save('other', { whole: true, put: [config('a', 90)], removed: [] });
  await files.flush();
  assert.deepEqual([names(open()), names(open(), 'other')], [['a 80', 'b 80'], ['a 90']]);
  assert.equal(statSync(directory).mode & 0o777, 0o700);
  assert.equal(statSync(path).mode & 0o777, 0o600);
});

test('a change appends a line, an equal state nothing', async (t) => {
  const { open, path } = place(t);
  const files = open();
  files.save('s', { whole: true, put: [config('a'), config('b')], removed: [] });
  await files.flush();
  const before = readFileSync(path, 'utf8');
  const next = open();
  next.save('s', { whole: true, put: [config('a'), config('b')], removed: [] });
  await next.flush();
  assert.equal(readFileSync(path, 'utf8'), before);
  next.save('s', { whole: false, put: [config('a', 81)], removed: [config('b').key] });
  await next.flush();
  assert.ok(readFileSync(path, 'utf8').startsWith(before));
  assert.deepEqual(names(open()), ['a 81']);
});

test('a whole state drops the copies that are not in it', async (t) => {
  const { open } = place(t);
  const files = open();
  files.save('s', { whole: true, put: [config('a'), config('b')], removed: [] });
  files.save('s', { whole: true, put: [config('b')], removed: [] });
  files.save('s', { whole: false, put: [config('c')], removed: [] });
  await files.flush();
  assert.deepEqual(names(open()), ['b 80', 'c 80']);
});

test('a copy moves with its file', async (t) => {
  const { open } = place(t);
  const files = open();
  files.save('s', { whole: true, put: [config('a')], removed: [] });
  await files.flush();
  files.save('s', { whole: false, put: [config('a', 80, 'ns/other.yaml')], removed: [] });
  await files.flush();
  assert.deepEqual(
    open()
      .load('s')
      .map(({ file }) => file),
    ['ns/other.yaml'],
  );
});

test('a line that was cut off is passed over, and takes no later one with it', async (t) => {
  const { open, path } = place(t);
  const files = open();
  files.save('s', { whole: true, put: [config('a')], removed: [] });
  await files.flush();
  appendFileSync(path, '{"source":"s","hash":"x","key":"k","fi');
  assert.deepEqual(names(open()), ['a 80']);
  const next = open();
  next.save('s', { whole: false, put: [config('b')], removed: [] });
  await next.flush();
  assert.deepEqual(names(open()), ['a 80', 'b 80']);
});

test('the file does not grow without end', async (t) => {
  const { open, path } = place(t);
  const files = open();
  files.save('s', { whole: true, put: [config('a')], removed: [] });
  for (let i = 0; i < 1500; i++) {
    files.save('s', { whole: false, put: [config('a', 1 + i)], removed: [] });
    await files.flush();
  }
  assert.ok(readFileSync(path, 'utf8').split('\n').length < 1100);
  assert.deepEqual(names(open()), ['a 1500']);
});

test('a place that can not be written to is one warning', async (t) => {
  const { open, directory, warnings } = place(t);
  writeFileSync(directory, 'a file');
  const files = open();
  files.save('s', { whole: true, put: [config('a')], removed: [] });
  await files.flush();
  files.save('s', { whole: true, put: [config('a')], removed: [] });
  await files.flush();
  assert.deepEqual([warnings.length, names(files)], [1, []]);
});
