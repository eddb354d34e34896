import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Config } from '../../../src/config/config.ts';
import { fieldPath } from '../../../src/config/finding.ts';
import { meshFixture, object } from '../../support/mesh-fixture.ts';

type Spec = Readonly<Record<string, unknown>>;

const SIMPLE = { tls: { mode: 'SIMPLE', credentialName: 'c' } };
const LABELS = { app: 'gw' };

const server = (port: number, protocol: string, hosts: readonly string[], more: Spec = {}) => ({
  port: { number: port, name: `${hosts[0]}-${port}`, protocol },
  hosts,
  ...more,
});
const gateway = (name: string, servers: readonly Spec[], selector: Spec = LABELS) =>
  object('Gateway', name, { selector, servers });

/** What is said of rivals: `name severity CODE path`, with the hosts and Gateways of the message. */
function findings(...configs: readonly Config[]): readonly string[] {
  const { analysis, mesh } = meshFixture(configs).pipeline;
  return [...analysis.findings.get('Gateway').entries()].flatMap(([key, found]) =>
    found.flatMap(({ severity, code, path, message }) => {
      if (code !== 'IST0145' && code !== 'VM0205') return [];
      const named = [...message.matchAll(/"[^"]*"|default\/\w+/g)].join(' ');
      return `${mesh.configs.get(key)?.name} ${severity} ${code} ${fieldPath(path)} ${named}`;
    }),
  );
}

test('of two Gateways with the same host behind TLS both are told, the later that it is left out', () => {
  const one = gateway('one', [server(443, 'HTTPS', ['a.com', 'b.com'], SIMPLE)]);
  const two = gateway('two', [server(80, 'HTTP', ['c.com']), server(443, 'HTTPS', ['c.com', 'b.com'], SIMPLE)]);
  assert.deepEqual(findings(one, two), [
    'one warning IST0145 spec.servers[0].hosts "b.com" default/two',
    'two error IST0145 spec.servers[1].hosts "b.com" default/one',
  ]);
});

test('plaintext HTTP servers share hosts, which is worth knowing', () => {
  const all = ['one', 'two'].map((name) => gateway(name, [server(80, 'HTTP', ['*'])]));
  assert.deepEqual(findings(...all, gateway('three', [server(80, 'HTTP', ['a.com'])])), [
    'one info IST0145 spec.servers[0].hosts default/one default/two "*"',
    'two info IST0145 spec.servers[0].hosts default/one default/two "*"',
  ]);
});

test('a server that can not share its port is told of', () => {
  const one = gateway('one', [server(80, 'HTTP', ['a.com'])]);
  assert.deepEqual(findings(one, gateway('two', [server(80, 'TCP', ['b.com'])])), [
    'two error VM0205 spec.servers[0].port default/one',
  ]);
  assert.deepEqual(findings(one, gateway('two', [server(80, 'TCP', ['a.com'])])), [
    'one warning IST0145 spec.servers[0].hosts "a.com" default/two',
    'two error IST0145 spec.servers[0].port default/one',
  ]);
});

test('Gateways at other addresses, on other ports and for other proxies are at peace', () => {
  const https = server(443, 'HTTPS', ['a.com'], SIMPLE);
  const others = [
    gateway('two', [server(443, 'HTTPS', ['a.com'], { ...SIMPLE, bind: '10.0.0.1' })]),
    gateway('three', [server(8443, 'HTTPS', ['a.com'], SIMPLE)]),
    gateway('four', [https], { app: 'other' }),
  ];
  assert.deepEqual(findings(gateway('one', [https]), ...others), []);
});

test('a Gateway for more proxies is a rival where there is a proxy that both are for', () => {
  const wide = gateway('wide', [server(443, 'HTTPS', ['a.com'], SIMPLE)], {});
  const narrow = gateway('narrow', [server(443, 'HTTPS', ['a.com'], SIMPLE)], { app: 'gw', tier: 'edge' });
  assert.deepEqual(findings(wide, narrow), []);
  const workload = object('WorkloadEntry', 'vm', { address: '10.0.0.1', labels: { app: 'gw', tier: 'edge' } });
  assert.deepEqual(findings(wide, narrow, workload), [
    'narrow warning IST0145 spec.servers[0].hosts "a.com" default/wide',
    'wide error IST0145 spec.servers[0].hosts "a.com" default/narrow',
  ]);
});
