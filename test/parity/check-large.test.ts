import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { writeLargeTree } from '../support/large-tree.ts';
import { WorkDir } from '../support/work-dir.ts';

const ISTIOD = resolve('dist/istiod');
const DOCUMENTS = 10_000;
/** More text than a pipe holds. */
const FINDINGS = 2000;
const skip = existsSync(ISTIOD) ? false : 'there is no dist/istiod: npm run build makes it';

test('the executable finds the mistakes among 10,000 documents, and nothing else', { skip }, (t) => {
  const dir = new WorkDir('large');
  t.after(() => dir.remove('.'));
  writeLargeTree(dir.at('etc/istio/conf'), DOCUMENTS);
  const begun = performance.now();
  const { stdout, status } = spawnSync(ISTIOD, ['check'], { cwd: dir.path, encoding: 'utf8' });
  t.diagnostic(`istiod check looked at ${DOCUMENTS} documents in ${Math.round(performance.now() - begun)} ms`);
  assert.deepEqual(
    stdout.split('\n').map((line) => line.split(': ').slice(0, 2).join(': ')),
    [
      'etc/istio/conf/team-0/zz-mistakes.yaml:7:5: warning VM0001',
      'etc/istio/conf/team-0/zz-mistakes.yaml:8:34: error IST0101',
      'etc/istio/conf/team-0/zz-mistakes.yaml:15:71: error IST0101',
      '2001 files: 2 errors, 1 warning, 0 infos',
      '',
    ],
  );
  assert.equal(status, 2);
});

test('who reads findings through a pipe gets all of them', { skip }, (t) => {
  const dir = new WorkDir('many-findings');
  t.after(() => dir.remove('.'));
  const filter = (i: number) =>
    `apiVersion: networking.istio.io/v1\nkind: ServiceEntry\nmetadata: {name: a${i}}\nspec: {hosts: ['${'x'.repeat(64)}']}\n`;
  dir.write('etc/istio/conf/shop/many.yaml', Array.from({ length: FINDINGS }, (_, i) => filter(i)).join('---\n'));
  const { stdout } = spawnSync('/bin/sh', ['-c', '"$0" check | cat', ISTIOD], {
    cwd: dir.path,
    encoding: 'utf8',
  });
  assert.equal(stdout.split('\n').filter((line) => line.includes(' error IST0106: ')).length, FINDINGS);
  assert.match(stdout, new RegExp(`\\n1 files?: ${FINDINGS} errors, .*\\n$`));
});
