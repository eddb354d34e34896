import assert from 'node:assert/strict';
import { cpSync, mkdirSync } from 'node:fs';
import { after, before, test } from 'node:test';
import type { WorkDir } from '../support/work-dir.ts';
import { debian, Machine } from './machine.ts';

let root: WorkDir;

before(
  () => {
    root = debian();
    cpSync('dist/istiod', root.at('usr/bin/istiod'));
    mkdirSync(root.at('etc/istio/conf'), { recursive: true });
    mkdirSync(root.at('var/lib/istio'));
    cpSync('etc/istio/conf/shop', root.at('etc/istio/conf/shop'), { recursive: true });
  },
  { timeout: 300_000 },
);
after(() => root?.[Symbol.dispose]());

const VARIANTS: readonly (readonly [string, readonly string[]])[] = [
  ['a root that is read-only but for its state', ['--read-only', '--tmpfs=/var/lib/istio']],
  ['a root that is read-only altogether', ['--read-only']],
];

for (const [what, options] of VARIANTS) {
  test(`istiod serves as process 1, without systemd, from ${what}, and ends on SIGTERM`, async (t) => {
    const machine = Machine.start(root.path, ['/usr/bin/istiod'], options);
    t.after(() => machine.stop());
    await machine.until('curl -s http://127.0.0.1:8080/ready || true', /^ready$/);
    assert.equal(await machine.run('readlink /proc/1/exe'), '/usr/bin/istiod');
    assert.match(await machine.run('touch /new 2>&1 || true'), /Read-only file system/);
    assert.match(await machine.run('curl -s http://127.0.0.1:8080/debug/configz'), /web\.shop\.internal/);
    process.kill(machine.leader, 'SIGTERM');
    assert.deepEqual(await machine.exited, { code: 0, signal: null });
  });
}
