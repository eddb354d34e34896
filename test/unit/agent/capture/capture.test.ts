import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { captureSettings } from '../../../../src/agent/capture/capture-settings.ts';
import { Capture, type Run } from '../../../../src/agent/capture/iptables.ts';
import { captureTables, presentTables } from '../../../../src/agent/capture/rules.ts';
import { noNamespaces } from '../../../support/network.ts';
import { WorkDir } from '../../../support/work-dir.ts';

const RESOLV_CONF = 'nameserver 10.0.0.53\nnameserver fd00::53\n';

function settings(env: Readonly<Record<string, string>>) {
  using dir = new WorkDir('capture');
  dir.write('etc/resolv.conf', RESOLV_CONF);
  dir.write('etc/passwd', 'root:x:0:0::/:/bin/sh\nistio-proxy:x:998:997::/:/bin/false\n');
  return captureSettings(dir.path, env);
}

test('without settings all is captured but SSH and the ports of the proxy, and not what its user sends', () => {
  const [nat, ...others] = captureTables(settings({}), 4);
  assert.deepEqual(others, []);
  assert.deepEqual(nat?.rules, [
    '-A PREROUTING -p tcp -j ISTIO_INBOUND',
    '-A ISTIO_INBOUND -p tcp -m tcp --dport 15008 -j RETURN',
    '-A ISTIO_INBOUND -p tcp -m tcp --dport 22 -j RETURN',
    '-A ISTIO_INBOUND -p tcp -m tcp --dport 15020 -j RETURN',
    '-A ISTIO_INBOUND -p tcp -m tcp --dport 15021 -j RETURN',
    '-A ISTIO_INBOUND -p tcp -m tcp --dport 15090 -j RETURN',
    '-A ISTIO_INBOUND -p tcp -j ISTIO_IN_REDIRECT',
    '-A OUTPUT -j ISTIO_OUTPUT',
    '-A ISTIO_OUTPUT -s 127.0.0.6/32 -o lo -j RETURN',
    '-A ISTIO_OUTPUT ! -d 127.0.0.1/32 -o lo -p tcp -m tcp ! --dport 15008 -m owner --uid-owner 998 -j ISTIO_IN_REDIRECT',
    '-A ISTIO_OUTPUT -o lo -m owner ! --uid-owner 998 -j RETURN',
    '-A ISTIO_OUTPUT -m owner --uid-owner 998 -j RETURN',
    '-A ISTIO_OUTPUT ! -d 127.0.0.1/32 -o lo -p tcp -m tcp ! --dport 15008 -m owner --gid-owner 997 -j ISTIO_IN_REDIRECT',
    '-A ISTIO_OUTPUT -o lo -m owner ! --gid-owner 997 -j RETURN',
    '-A ISTIO_OUTPUT -m owner --gid-owner 997 -j RETURN',
    '-A ISTIO_OUTPUT -d 127.0.0.1/32 -j RETURN',
    '-A ISTIO_OUTPUT -j ISTIO_REDIRECT',
    '-A ISTIO_IN_REDIRECT -p tcp -j REDIRECT --to-ports 15006',
    '-A ISTIO_REDIRECT -p tcp -j REDIRECT --to-ports 15001',
  ]);
});

test('without interception only DNS is captured', () => {
  const none = settings({ ISTIO_META_INTERCEPTION_MODE: 'NONE', ISTIO_META_DNS_CAPTURE: 'true' });
  const rules = captureTables(none, 4).flatMap((table) => table.rules);
  assert.equal(
    rules.some((rule) => rule.startsWith('-A PREROUTING -p tcp')),
    false,
  );
  assert.equal(
    rules.some((rule) => /-j ISTIO_REDIRECT$/.test(rule)),
    false,
  );
  assert.ok(
    rules.includes('-A ISTIO_OUTPUT_DNS -d 10.0.0.53/32 -p udp -m udp --dport 53 -j REDIRECT --to-ports 15053'),
  );
  assert.equal(settings({ ISTIO_META_DNS_CAPTURE: 'true', DNS_PROXY_ADDR: '127.0.0.1:53' }).dns, undefined);
});

test('printed rules are the input of the program that is named above them', () => {
  const text = new Capture(
    settings({ ISTIO_META_DNS_CAPTURE: 'true', ISTIO_SERVICE_CIDR: '10.1.2.3/8,fd00::/8' }),
    () => assert.fail(),
  ).print();
  const [v4 = '', v6 = ''] = text.split('# ip6tables-restore --noflush\n');
  assert.match(v4, /^# iptables-restore --noflush\n\*nat\n:ISTIO_INBOUND - \[0:0\]\n/);
  assert.match(v4, /^-A ISTIO_OUTPUT -d 10\.0\.0\.0\/8 -j ISTIO_REDIRECT$/m);
  assert.doesNotMatch(v4, /fd00/);
  assert.match(v6, /^-A ISTIO_OUTPUT -d fd00::\/8 -j ISTIO_REDIRECT$/m);
  assert.match(v6, /^-A ISTIO_OUTPUT_DNS -d fd00::53\/128 -p tcp -m tcp --dport 53 -j REDIRECT --to-ports 15053$/m);
  assert.doesNotMatch(v6, /10\.0\.0/);
});

test('what iptables says is passed on, with what to do', () => {
  const failing =
    (error: object): Run =>
    () => {
      throw Object.assign(new Error('failed'), error);
    };
  const capture = (run: Run) => new Capture(settings({}), run);
  assert.throws(() => capture(failing({ code: 'ENOENT' })).apply(), /there is no iptables-save: install iptables/);
  assert.throws(
    () => capture(failing({ stderr: 'iptables: Permission denied (you must be root)\n' })).remove(),
    /iptables: iptables: Permission denied \(you must be root\); it needs root/,
  );
});

test('rules are put in, seen, replaced and removed, and those of others stay', { skip: noNamespaces() }, (t) => {
  const name = `istiod-e2e-${process.pid}-capture`;
  execFileSync('ip', ['netns', 'add', name]);
  t.after(() => execFileSync('ip', ['netns', 'delete', name]));
  const run: Run = (command, args, input = '') =>
    execFileSync('ip', ['netns', 'exec', name, command, ...args], {
      input,
      encoding: 'utf8',
      stdio: ['pipe', 'pipe', 'pipe'],
    });
  const saved = (program = 'iptables') =>
    `${run(`${program}-save`, ['-t', 'nat'])}${run(`${program}-save`, ['-t', 'raw'])}`;
  const others = '-A OUTPUT -d 192.0.2.1/32 -j ACCEPT';
  run('iptables', ['-t', 'nat', ...others.split(' ')]);

  const all = {
    ISTIO_META_DNS_CAPTURE: 'true',
    ISTIO_SERVICE_CIDR: '10.0.0.0/8,fd00::/8,192.168.0.1/32',
    ISTIO_SERVICE_EXCLUDE_CIDR: '10.1.0.0/16,fd01::/16',
    ISTIO_OUTBOUND_PORTS: '9000',
    ISTIO_LOCAL_OUTBOUND_PORTS_EXCLUDE: '9001',
    ISTIO_EXCLUDE_INTERFACES: 'eth9',
    ISTIO_INBOUND_PORTS: '8080,8081',
    PROXY_UID: '3,4',
    PROXY_GID: '5',
  };
  const first = new Capture(settings(all), run);
  assert.ok(first.differences().length > 20);
  first.apply();
  assert.deepEqual(first.differences(), []);
  const once = saved();
  first.apply();
  const rules = (text: string) => text.split('\n').filter((line) => line.startsWith('-A'));
  assert.deepEqual(rules(saved()), rules(once));
  assert.ok(once.includes(others));
  assert.ok(rules(saved('ip6tables')).length > 20);

  run('iptables', ['-t', 'nat', '-D', 'ISTIO_OUTPUT', '-d', '10.1.0.0/16', '-j', 'RETURN']);
  run('iptables', ['-t', 'nat', '-A', 'ISTIO_INBOUND', '-p', 'tcp', '--dport', '1', '-j', 'RETURN']);
  assert.deepEqual(first.differences(), [
    'iptables -t nat: missing: -A ISTIO_OUTPUT -d 10.1.0.0/16 -j RETURN',
    'iptables -t nat: not wanted: -A ISTIO_INBOUND -p tcp -m tcp --dport 1 -j RETURN',
  ]);

  const second = new Capture(settings({}), run);
  second.apply();
  assert.deepEqual(second.differences(), []);
  assert.deepEqual(presentTables(run('iptables-save', ['-t', 'raw'])).get('raw')?.rules, []);
  second.remove();
  assert.deepEqual(rules(saved()), [others]);
  assert.deepEqual(rules(saved('ip6tables')), []);
  assert.doesNotMatch(saved(), /ISTIO_/);
  second.remove();
});
