import assert from 'node:assert/strict';
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { StatusFiles } from '../../../src/sources/status-files.ts';
import { WorkDir } from '../../support/work-dir.ts';

function filesIn(directory: string): readonly string[] {
  return globSync('**/*', { cwd: directory, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)
    .sort();
}

test('each status has its file, the last one put, and what earlier runs left goes', async () => {
  using work = new WorkDir();
  const directory = work.at('status');
  mkdirSync(join(directory, 'HTTPRoute/shop'), { recursive: true });
  writeFileSync(join(directory, 'HTTPRoute/shop/old.json'), '{}');
  const warnings: string[] = [];
  const files = new StatusFiles({ directory, log: { info: () => undefined, warn: (text) => warnings.push(text) } });
  files.put('HTTPRoute/shop/web.json', 'first');
  files.put('HTTPRoute/shop/web.json', 'last');
  files.put('Gateway/shop/edge.json', 'gone');
  files.put('Gateway/shop/edge.json', undefined);
  files.keepOnly(new Set(['HTTPRoute/shop/web.json']));
  await files.flush();
  assert.deepEqual(filesIn(directory), ['web.json']);
  assert.equal(readFileSync(join(directory, 'HTTPRoute/shop/web.json'), 'utf8'), 'last');
  assert.deepEqual(warnings, []);
});

test('a disk that takes nothing is warned of once', async () => {
  using work = new WorkDir();
  const directory = work.at('status');
  writeFileSync(directory, 'no directory');
  const warnings: string[] = [];
  const files = new StatusFiles({ directory, log: { info: () => undefined, warn: (text) => warnings.push(text) } });
  files.put('Gateway/shop/a.json', 'a');
  files.put('Gateway/shop/b.json', 'b');
  await files.flush();
  assert.equal(warnings.length, 1);
});
