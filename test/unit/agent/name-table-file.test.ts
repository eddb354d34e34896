import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NameTableFile } from '../../../src/agent/name-table-file.ts';
import { WorkDir } from '../../support/work-dir.ts';

const FILE = 'agent/name-table.json';
const TABLE = { table: { 'a.shop': { ips: ['240.0.0.1'], registry: 'External' } } };

function opened(dir: WorkDir, namespace = 'shop') {
  const warnings: string[] = [];
  const log = { warn: (message: string) => void warnings.push(message) };
  return { file: new NameTableFile({ directory: dir.at('agent'), log }, namespace), warnings };
}

test('the table that came last is there for the next process of the same namespace', async () => {
  using dir = new WorkDir();
  const { file } = opened(dir);
  assert.equal(file.load(), undefined);
  file.save({ table: {} });
  file.save(TABLE);
  await file.flush();
  assert.deepEqual(opened(dir).file.load(), TABLE);
  assert.equal(opened(dir, 'other').file.load(), undefined);
});

test('a damaged file is put aside, and one of another format is passed over', async () => {
  for (const text of ['', '{"format": 1, "namesp', '[]', '{"format": 1}', '{"format":"1","table":{}}']) {
    using dir = new WorkDir();
    dir.write(FILE, text);
    const { file, warnings } = opened(dir);
    assert.equal(file.load(), undefined, text);
    assert.match(warnings.join(), /damaged/);
    assert.equal(dir.read(`${FILE}.damaged`), text);
    file.save(TABLE);
    await file.flush();
    assert.deepEqual(opened(dir).file.load(), TABLE);
  }
  using dir = new WorkDir();
  dir.write(FILE, JSON.stringify({ format: 2, namespace: 'shop', table: TABLE, more: 1 }));
  const { file, warnings } = opened(dir);
  assert.equal(file.load(), undefined);
  assert.deepEqual(warnings, []);
});
