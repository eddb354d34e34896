import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import type { WorkDir } from '../support/work-dir.ts';
import { debian, Machine, packagePath } from './machine.ts';

/** All that stands on the disk but what every boot and every use of dpkg writes. */
const FILES = `find / -xdev \\( -path /proc -o -path /sys -o -path /run -o -path /tmp -o -path /var/tmp -o -path /var/log -o \
  -path /mnt -o -path /var/lib/dpkg -o -path /var/cache -o -path /var/lib/systemd -o -name '*-' \\) -prune -o -print | sort`;
const MAIN = '$(systemctl show --property=MainPID --value istiod)';

let root: WorkDir;
let machine: Machine;
let untouched = '';

before(
  async () => {
    root = debian();
    mkdirSync(root.at('mnt/packages'), { recursive: true });
    cpSync(packagePath(), root.at('mnt/packages/current.deb'));
    previous(packagePath(), root.at('mnt/packages'));
    const envoy = execFileSync('scripts/envoy', ['--path'], { encoding: 'utf8' }).trim();
    cpSync(envoy, root.at('mnt/envoy'));
    machine = await Machine.boot(root.path);
    untouched = await machine.run(FILES);
  },
  { timeout: 300_000 },
);

after(async () => {
  await machine?.stop();
  root?.[Symbol.dispose]();
});

/** The package as an older version whose default settings say less: what an upgrade begins from. */
function previous(deb: string, directory: string): void {
  const tree = `${directory}/previous`;
  execFileSync('dpkg-deb', ['--raw-extract', deb, tree]);
  const control = readFileSync(`${tree}/DEBIAN/control`, 'utf8');
  writeFileSync(`${tree}/DEBIAN/control`, control.replace(/^Version: .*$/m, 'Version: 0.0.9'));
  writeFileSync(`${tree}/etc/istio/mesh.yaml`, "# Istio's MeshConfig.\n");
  writeFileSync(`${tree}/etc/istio/istiod.yaml`, "# istiod's own options.\n");
  execFileSync('dpkg-deb', ['-Znone', '--root-owner-group', '--build', tree, `${directory}/previous.deb`]);
  execFileSync('rm', ['-r', tree]);
}

const property = (name: string): Promise<string> => machine.run(`systemctl show --property=${name} --value istiod`);

test('a previous version installs, starts, and says READY=1', async () => {
  await machine.run('DEBIAN_FRONTEND=noninteractive dpkg --install /mnt/packages/previous.deb');
  assert.equal(await property('ActiveState'), 'active');
  assert.match(await property('StatusText'), /^serves 127\.0\.0\.1:15010/);
  assert.equal(await machine.run('curl -s http://127.0.0.1:8080/ready'), 'ready');
  assert.equal(await machine.run('systemctl is-enabled istiod'), 'enabled');
});

test('the process has no capability, a filter, its own user, and no process of its own', async () => {
  const status = await machine.run(`cat /proc/${MAIN}/status`);
  for (const line of ['CapEff:\t0000000000000000', 'CapBnd:\t0000000000000000', 'NoNewPrivs:\t1', 'Seccomp:\t2'])
    assert.ok(status.includes(line), `${line} in ${status}`);
  assert.equal(await machine.run(`stat --format=%U /proc/${MAIN}`), 'istio');
  assert.equal(await machine.run(`cat /proc/${MAIN}/task/*/children`), '');
  assert.equal(await machine.run('stat --format="%U %a" /var/lib/istio'), 'istio 755');
});

test('an upgrade keeps what was changed in the settings, the configuration and the state, and restarts', async () => {
  await machine.run('cp -r /usr/share/doc/istiod-vm/examples/shop /etc/istio/conf/');
  await machine.run('echo "connectTimeout: 7s" >>/etc/istio/mesh.yaml');
  await machine.until('ls /var/lib/istio/last-good', /./);
  const [changed, example, old] = await Promise.all([
    machine.run('cat /etc/istio/mesh.yaml'),
    machine.run('cat /etc/istio/conf/shop/*'),
    property('MainPID'),
  ]);
  await machine.run(
    'DEBIAN_FRONTEND=noninteractive dpkg --install --force-confdef --force-confold /mnt/packages/current.deb',
  );
  assert.equal(await property('ActiveState'), 'active');
  assert.notEqual(await property('MainPID'), old);
  assert.equal(await machine.run('cat /etc/istio/mesh.yaml'), changed);
  assert.equal(await machine.run('cat /etc/istio/conf/shop/*'), example);
  assert.equal(
    await machine.run('cat /etc/istio/istiod.yaml'),
    readFileSync('debian/conf/istiod.yaml', 'utf8').trim(),
    'settings that nobody changed are the new ones',
  );
  assert.match(await machine.run('dpkg-query --show istiod-vm'), /\t(?!0\.0\.9)/);
  assert.match(await machine.run('istiod version'), /^istiod-vm \d/);
  await machine.until('curl -s http://127.0.0.1:8080/debug/configz', /web\.shop\.internal/);
});

test('an upstream Envoy is served, and follows an edit', async () => {
  await machine.run(
    'systemd-run --quiet --unit=envoy /mnt/envoy --concurrency 1 -c /usr/share/doc/istiod-vm/examples/sidecar.yaml',
  );
  const ask = "curl -s --max-time 2 -H 'Host: web.shop.internal' http://127.0.0.1:9080/hello || true";
  await machine.until(ask, /^hello from the mesh$/);
  await machine.run("sed -i 's/hello from the mesh/hello again/' /etc/istio/conf/shop/web.yaml");
  await machine.until(ask, /^hello again$/);
});

test('a process that stands still is killed by the watchdog and started again; Envoy comes back to it', async () => {
  const drop = '/run/systemd/system/istiod.service.d';
  await machine.run(
    `mkdir -p ${drop} && printf '[Service]\\nWatchdogSec=4\\n' >${drop}/test.conf && systemctl daemon-reload && systemctl restart istiod`,
  );
  for (const disturbance of ['true', 'systemctl daemon-reexec']) {
    await machine.run(disturbance);
    const fed = await property('WatchdogTimestampMonotonic');
    await machine.until(
      'systemctl show --property=WatchdogTimestampMonotonic --value istiod',
      new RegExp(`^(?!${fed}$)`),
    );
  }
  assert.equal(await property('NRestarts'), '0');
  const stopped = await property('MainPID');
  await machine.run(`kill -STOP ${stopped}`);
  await machine.until('systemctl show --property=NRestarts --value istiod', /^1$/);
  await machine.until('systemctl is-active istiod || true', /^active$/);
  assert.notEqual(await property('MainPID'), stopped);
  assert.match(
    await machine.run('journalctl --unit=istiod --no-pager'),
    /Watchdog timeout[\s\S]*Failed with result 'watchdog'/,
  );
  await machine.until('curl -s http://127.0.0.1:8080/debug/syncz', /client-1\.shop/);
  await machine.run(`rm -r ${drop} && systemctl daemon-reload`);
});

test('the agent is no service that runs by itself; told where istiod is, it runs an Envoy as its own user', async () => {
  assert.equal(await machine.run('systemctl is-enabled istio-agent || true'), 'disabled');
  assert.equal(await machine.run('systemctl is-active istio-agent || true'), 'inactive');
  // Its name server would be asked for in a container without a network.
  const variables = [
    'ISTIO_ADDRESS=127.0.0.1:15010',
    'ENVOY_PATH=/mnt/envoy',
    'POD_NAMESPACE=shop',
    'INSTANCE_IP=127.0.0.1',
    'ISTIO_META_INTERCEPTION_MODE=NONE',
    'ISTIO_META_DNS_CAPTURE=true',
    'ISTIO_CUSTOM_IP_TABLES=true',
    `PROXY_CONFIG='{"terminationDrainDuration":"0s"}'`,
  ];
  mkdirSync(root.at('var/lib/istio/envoy'), { recursive: true });
  writeFileSync(root.at('var/lib/istio/envoy/sidecar.env'), `${variables.join('\n')}\n`);
  await machine.run('systemctl stop envoy && systemctl start istio-agent');
  await machine.until('curl -s -o /dev/null -w "%{http_code}" http://127.0.0.1:15021/healthz/ready', /^200$/);
  assert.match(
    await machine.run('systemctl show --property=StatusText --value istio-agent'),
    /^serves 127\.0\.0\.1:15053/,
  );
  assert.equal(await machine.run('ps -o user= -p $(cat /var/lib/istio/agent/run/envoy.pid)'), 'istio-proxy');
  assert.equal(
    await machine.run('stat --format="%U %a" /var/lib/istio/agent /etc/istio/proxy/XDS'),
    'istio-proxy 700\nistio-proxy 660',
  );
  await machine.run('systemctl restart istiod');
  await machine.until('curl -s http://127.0.0.1:8080/debug/syncz', /\.shop/);
  await machine.run('systemctl stop istio-agent');
  assert.equal(await machine.run('ls /var/lib/istio/agent/run/envoy.pid 2>/dev/null || true'), '');
  assert.equal(await machine.run('systemctl show --property=Result --value istio-agent'), 'success');
});

test('wrong settings are said and not tried again', async () => {
  await machine.run('cp /etc/istio/istiod.yaml /tmp/ && echo "lisen: {}" >>/etc/istio/istiod.yaml');
  await machine.run('systemctl restart istiod || true');
  assert.equal(await property('ActiveState'), 'failed');
  assert.equal(await property('NRestarts'), '0');
  assert.match(await machine.run('journalctl --unit=istiod --no-pager --lines=5'), /istiod\.yaml:\d+:\d+: error/);
  await machine.run('cp /tmp/istiod.yaml /etc/istio/ && systemctl reset-failed istiod && systemctl start istiod');
  assert.equal(await property('ActiveState'), 'active');
});

test('the socket is for the group, and a certificate switches TLS on', async () => {
  await machine.run(
    'cp /etc/istio/istiod.yaml /tmp/ && echo "listen: {grpcUnix: /run/istio/xds.sock}" >>/etc/istio/istiod.yaml',
  );
  const pki = root.at('etc/certs');
  mkdirSync(pki);
  const subject = ['-subj', '/CN=istiod', '-addext', 'subjectAltName=DNS:istiod.istio-system.svc'];
  const files = ['-keyout', `${pki}/key.pem`, '-out', `${pki}/cert-chain.pem`];
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  execFileSync('openssl', ['req', '-x509', ...key, '-days', '2', ...files, ...subject], { stdio: 'pipe' });
  await machine.run('chgrp istio /etc/certs/*.pem && chmod 640 /etc/certs/*.pem && systemctl restart istiod');
  assert.match(await property('StatusText'), /\/run\/istio\/xds\.sock.*:15012/);
  assert.equal(await machine.run('stat --format="%G %a" /run/istio/xds.sock'), 'istio 660');
  await machine.run('cp /tmp/istiod.yaml /etc/istio/');
});

test('remove stops it and keeps configuration and state', async () => {
  await machine.run('dpkg --remove istiod-vm');
  assert.equal(await machine.run('systemctl is-active istiod || true'), 'inactive');
  assert.match(await machine.run('cat /etc/istio/mesh.yaml'), /connectTimeout: 7s/);
  assert.match(await machine.run('ls /etc/istio/conf/shop /var/lib/istio'), /web\.yaml[\s\S]*last-good/);
});

test('purge keeps the user while a key is of its group, and else leaves nothing', async () => {
  await machine.run('dpkg --purge istiod-vm');
  assert.match(await machine.run('getent passwd istio'), /^istio:/);
  await machine.run('rm -r /etc/certs && dpkg --install /mnt/packages/current.deb && dpkg --purge istiod-vm');
  assert.equal(await machine.run('getent passwd istio istio-proxy; getent group istio istio-proxy; true'), '');
  assert.equal(await machine.run(FILES), untouched);
  assert.equal(await machine.run('systemctl --failed --no-legend; ls -d /run/istio* 2>/dev/null || true'), '');
});
