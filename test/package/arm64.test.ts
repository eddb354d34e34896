import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { rmSync, statSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { Child } from '../support/child.ts';
import { waitFor } from '../support/wait.ts';
import { WorkDir } from '../support/work-dir.ts';
import { packagePath } from './machine.ts';

const deb = packagePath('arm64');
let root: WorkDir;

/** Libraries of Debian on arm64, with the package unpacked among them: its processor is emulated. */
before(
  () => {
    rmSync(deb, { force: true });
    execFileSync('npm', ['run', '--silent', 'deb'], { env: { ...process.env, TARGET_ARCH: 'arm64' }, stdio: 'ignore' });
    root = new WorkDir('arm64');
    const options = ['--quiet', '--arch=arm64', '--variant=extract', '--include=libc6,libgcc-s1,libstdc++6'];
    execFileSync('mmdebstrap', [...options, 'bookworm', root.at('system')], { stdio: 'pipe' });
    execFileSync('dpkg-deb', ['--extract', deb, root.at('system')]);
  },
  { timeout: 400_000 },
);
after(() => root?.[Symbol.dispose]());

function istiod(...args: readonly string[]): Child {
  const system = root.at('system');
  return new Child(['qemu-aarch64-static', '-L', system, `${system}/usr/bin/istiod`, ...args], { cwd: root.path });
}

test('the package for arm64 is at most 30 MB', () => {
  assert.ok(statSync(deb).size <= 30_000_000);
  assert.equal(execFileSync('dpkg-deb', ['--field', deb, 'Architecture'], { encoding: 'utf8' }), 'arm64\n');
});

test('its executable serves under qemu-user', async (t) => {
  const any = '"127.0.0.1:0"';
  root.write('etc/istio/istiod.yaml', `listen: {grpc: ${any}, http: ${any}, monitoring: ${any}, grpcTls: ""}\n`);
  const version = istiod('version');
  await version.exited;
  assert.match(version.output, /^istiod-vm \d/);
  const server = istiod();
  t.after(() => server.stop());
  const listening = await waitFor(() => JSON.parse(root.read('var/lib/istio/run/listen.json')) as { http: string }, {
    what: 'listen.json',
    withinMs: 60_000,
  });
  const answer = await fetch(`http://${listening.http}/ready`);
  assert.equal((await answer.text()).trim(), 'ready');
  assert.deepEqual(await server.stop(), { code: 0, signal: null });
});
