import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StoredVip } from '../../../src/config/vip-storage.ts';
import { VipFile } from '../../../src/sources/vip-file.ts';
import { WorkDir } from '../../support/work-dir.ts';

const FILE = 'vips/vips.json';

function opened(dir: WorkDir): { readonly file: VipFile; readonly warnings: string[] } {
  const warnings: string[] = [];
  const log = { info: () => undefined, warn: (message: string) => void warnings.push(message) };
  return { file: new VipFile({ directory: dir.at('vips'), log }), warnings };
}

const vip = (host: string, address: string, reserved = false): StoredVip => ({ host, address, reserved });

test('what was saved last is there for the next process, those that are gone in their order', async () => {
  using dir = new WorkDir();
  const { file, warnings } = opened(dir);
  assert.deepEqual(file.load(), []);
  const last = [vip('a/a', '240.240.1.1'), vip('b/z', '240.240.1.3', true), vip('b/y', '240.240.1.2', true)];
  file.save(() => [vip('a/a', '240.240.1.1')]);
  file.save(() => assert.fail('only the last of several is written'));
  file.save(() => last);
  await file.flush();
  assert.deepEqual(opened(dir).file.load(), last);
  assert.deepEqual(warnings, []);
});

test('a damaged file is put aside with a warning, and a new one is written', async () => {
  using dir = new WorkDir();
  dir.write(FILE, '{"hosts": {"a/a": "240.2');
  const { file, warnings } = opened(dir);
  assert.deepEqual(file.load(), []);
  assert.match(warnings.join(), /damaged/);
  assert.equal(dir.read(`${FILE}.damaged`), '{"hosts": {"a/a": "240.2');
  file.save(() => [vip('a/a', '240.240.1.1')]);
  await file.flush();
  assert.deepEqual(opened(dir).file.load(), [vip('a/a', '240.240.1.1')]);
});

test('a directory that can not be made is a warning, once', async () => {
  using dir = new WorkDir();
  dir.write('vips', 'a file');
  const { file, warnings } = opened(dir);
  for (const address of ['240.240.1.1', '240.240.1.2']) {
    file.save(() => [vip('a/a', address)]);
    await file.flush();
  }
  assert.deepEqual(warnings.length, 1, warnings.join('\n'));
});
