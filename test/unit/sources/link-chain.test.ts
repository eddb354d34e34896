import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { linkChain } from '../../../src/sources/link-chain.ts';

test('a chain names each link on the way and the entries that it leads to', (t) => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'istiod-chain-')));
  t.after(() => rmSync(base, { recursive: true, force: true }));
  const chain = (path: string): string[] =>
    linkChain(join(base, path))
      .filter(({ directory }) => directory.startsWith(base))
      .map(({ directory, name }) => join(directory, name).slice(base.length + 1));
  mkdirSync(join(base, 'conf/..v1'), { recursive: true });
  writeFileSync(join(base, 'conf/..v1/a.yaml'), '');
  symlinkSync('..v1', join(base, 'conf/..data'));
  symlinkSync('..data/a.yaml', join(base, 'conf/a.yaml'));
  symlinkSync('self', join(base, 'self'));
  symlinkSync('conf/missing.yaml', join(base, 'dangling'));
  assert.deepEqual(chain('conf/a.yaml'), ['conf', 'conf/a.yaml', 'conf/..data', 'conf/..v1', 'conf/..v1/a.yaml']);
  assert.deepEqual(chain('dangling'), ['dangling', 'conf', 'conf/missing.yaml']);
  assert.ok(chain('self').length <= 50);
});
