import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, readFileSync, symlinkSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { test } from 'node:test';
import { WorkDir } from '../support/work-dir.ts';
import { packagePath } from './machine.ts';

test('lintian finds no error, with at most two overrides', () => {
  const { stdout, stderr } = spawnSync('lintian', ['--allow-root', '--show-overrides', packagePath()], {
    encoding: 'utf8',
  });
  const lines = stdout.split('\n').filter((line) => line !== '');
  assert.deepEqual(
    lines.filter((line) => /^[EW]:/.test(line)),
    [],
    stderr,
  );
  assert.ok(lines.filter((line) => line.startsWith('O:')).length <= 2, stdout);
});

test('without the code cache two builds in two places are the same bytes', { timeout: 600_000 }, (t) => {
  const sums = ['first', 'second'].map((name) => {
    const tree = new WorkDir(name);
    t.after(() => tree[Symbol.dispose]());
    const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
      encoding: 'utf8',
    });
    for (const file of files.split('\0').filter((path) => path !== ''))
      cpSync(file, tree.at(file), { verbatimSymlinks: true });
    for (const folder of ['node_modules', '.cache']) symlinkSync(resolve(folder), tree.at(folder));
    execFileSync('npm', ['run', '--silent', 'deb'], {
      cwd: tree.path,
      env: { ...process.env, REPRODUCIBLE: '1' },
      stdio: 'ignore',
    });
    const deb = tree.at(`dist/${basename(packagePath())}`);
    return createHash('sha256').update(readFileSync(deb)).digest('hex');
  });
  assert.equal(sums[0], sums[1]);
});
