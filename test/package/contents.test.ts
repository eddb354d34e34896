import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { test } from 'node:test';
import { parseSettings, type Settings } from '../../src/istiod/settings.ts';
import { packagePath } from './machine.ts';

const deb = packagePath();
const skip = existsSync(deb) ? false : 'no package in dist: npm run deb makes it';
const run = (command: string, ...args: readonly string[]): string => execFileSync(command, args, { encoding: 'utf8' });

/** A conffile with what it has commented out put in force. */
function uncommented(file: string): string {
  return readFileSync(file, 'utf8')
    .split('\n')
    .map((line) => line.replace(/^#(?! )|^#(?= {2})/, ''))
    .join('\n');
}

const values = (settings: Settings | undefined) =>
  settings && {
    listen: settings.listen,
    namespace: settings.namespace,
    revision: settings.revision,
    watchNamespaces: settings.watchNamespaces,
    settleMs: settings.settleMs,
    log: settings.log,
  };

test('the options that istiod.yaml shows commented out are the defaults', () => {
  const { settings, diagnostics } = parseSettings(uncommented('debian/conf/istiod.yaml'));
  assert.deepEqual(diagnostics, []);
  assert.deepEqual(values(settings), { ...values(parseSettings('').settings), log: { level: 'info', format: 'json' } });
});

test('istiod.yaml and mesh.yaml of the package set nothing', () => {
  for (const file of ['debian/conf/istiod.yaml', 'debian/conf/mesh.yaml'])
    assert.match(readFileSync(file, 'utf8'), /^(#.*\n|\n)*$/);
});

test("the service's exposure is below 2.0", (t) => {
  const { status, stdout } = spawnSync(
    'systemd-analyze',
    ['security', '--offline=true', '--threshold=19', 'systemd/istiod.service'],
    { encoding: 'utf8' },
  );
  if (stdout === null) return t.skip('no systemd-analyze on this machine');
  assert.equal(status, 0, stdout);
});

test("the package's version is the program's", () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  assert.match(readFileSync('debian/changelog', 'utf8'), new RegExp(`^istiod-vm \\(${version}\\) `));
});

test('the package has its files, is at most 30 MB, and names its conffiles', { skip }, () => {
  assert.ok(statSync(deb).size <= 30_000_000, `${statSync(deb).size} bytes`);
  const listed = run('dpkg-deb', '--contents', deb);
  for (const path of [
    'drwxr-xr-x root/root .* ./etc/istio/conf/\n',
    '-rwxr-xr-x root/root .* ./usr/bin/istiod\n',
    'lrwxrwxrwx root/root .* ./usr/bin/istio-agent -> istiod\n',
    '-rwxr-xr-x root/root .* ./usr/libexec/istio/with-notify-fd\n',
    '-rw-r--r-- root/root .* ./lib/systemd/system/istiod.service\n',
    '-rw-r--r-- root/root .* ./lib/systemd/system/istio-agent.service\n',
    '-rw-r--r-- root/root .* ./usr/share/man/man8/istio-agent.8.gz\n',
    '-rw-r--r-- root/root .* ./usr/lib/sysusers.d/istiod.conf\n',
    '-rw-r--r-- root/root .* ./usr/lib/tmpfiles.d/istiod.conf\n',
    '-rw-r--r-- root/root .* ./usr/share/man/man8/istiod.8.gz\n',
    '-rw-r--r-- root/root .* ./usr/share/istio/schemas/VirtualService.json\n',
    '-rw-r--r-- root/root .* ./usr/share/doc/istiod-vm/third-party-licenses.gz\n',
  ])
    assert.match(listed, new RegExp(path));
  assert.equal(run('dpkg-deb', '--info', deb, 'conffiles'), '/etc/istio/istiod.yaml\n/etc/istio/mesh.yaml\n');
});
