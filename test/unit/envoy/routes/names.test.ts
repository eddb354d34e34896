import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  alternativeHosts,
  clientDomain,
  relevantDomain,
  serviceDomains,
} from '../../../../src/envoy/routes/domains.ts';
import { type EgressRoutes, routeSources } from '../../../../src/envoy/routes/route-names.ts';
import type { Service } from '../../../../src/model/service.ts';
import { service } from './fixtures.ts';

test('hosts have the short forms by which clients of a domain may call them', () => {
  const cases: readonly (readonly [host: string, domain: string, port: number, expected: readonly string[]])[] = [
    ['a.ns.svc.cluster.local', 'ns.svc.cluster.local', 0, ['a', 'a.ns', 'a.ns.svc', 'a.ns.svc.cluster.local.']],
    ['a.ns.svc.cluster.local', 'other.svc.cluster.local', 0, ['a.ns', 'a.ns.svc', 'a.ns.svc.cluster.local.']],
    ['a.example.com', 'ns.svc.cluster.local', 0, ['a.example.com.']],
    ['a.ns.cluster.local', 'ns.svc.cluster.local', 0, ['a.ns.cluster.local.']],
    ['a.local.campus.net', 'local.campus.net', 0, ['a', 'a.local.campus.net.']],
    ['a.local.campus.net', 'remote.campus.net', 0, ['a.local', 'a.local.campus', 'a.local.campus.net.']],
    ['a.example.com', 'local.campus.net', 0, ['a.example.com.']],
    ['a.example.com', '', 0, ['a.example.com.']],
    ['10.0.0.1', 'ns.svc.cluster.local', 0, []],
    [
      'a.example.com',
      'x.com',
      80,
      ['a.example', 'a.example.com', 'a.example.com.', 'a.example.com.:80', 'a.example.com:80', 'a.example:80'],
    ],
  ];
  for (const [host, domain, port, expected] of cases) {
    assert.deepEqual([...alternativeHosts(host, port, domain)].sort(), expected, `${host} from ${domain}`);
  }
});

test('the relevant part of a domain gives the same alternatives as the domain', () => {
  const label = fc.constantFrom('a', 'b', 'svc', 'cluster', 'local');
  const name = fc.array(label, { minLength: 1, maxLength: 6 }).map((labels) => labels.join('.'));
  fc.assert(
    fc.property(name, name, (host, domain) => {
      const relevant = relevantDomain(host, clientDomain(domain));
      assert.deepEqual(alternativeHosts(host, 0, relevant), alternativeHosts(host, 0, domain));
    }),
  );
});

test('a service is called by its names, its addresses, and below its name where it is headless', () => {
  const domains = serviceDomains({
    hostname: 'a.ns.svc.cluster.local',
    aliases: ['b.ns.svc.cluster.local'],
    addresses: ['10.0.0.1', '2001:db8::1'],
    headless: false,
    port: 0,
    dnsDomain: 'x.svc.cluster.local',
  });
  assert.deepEqual(domains.all, [
    'a.ns.svc.cluster.local',
    'a.ns.svc.cluster.local.',
    'a.ns.svc',
    'a.ns',
    'b.ns.svc.cluster.local',
    'b.ns.svc.cluster.local.',
    'b.ns.svc',
    'b.ns',
    '10.0.0.1',
    '[2001:db8::1]',
  ]);
  const headless = serviceDomains({
    hostname: 'a.example.com',
    aliases: [],
    addresses: [],
    headless: true,
    port: 80,
    dnsDomain: '',
  });
  assert.deepEqual(headless.all.slice(4), [
    '*.a.example.com',
    '*.a.example.com:80',
    '*.a.example.com.',
    '*.a.example.com.:80',
  ]);
});

const egress = (services: readonly Service[], more: Partial<EgressRoutes> = {}): EgressRoutes => ({
  protocol: 'Unsupported',
  bind: '',
  unredirected: false,
  services,
  ...more,
});
const sources = (listeners: readonly EgressRoutes[], { unredirected = false, httpProxy = false } = {}) =>
  Object.fromEntries(
    routeSources({
      listeners,
      view: { ipv4: true, ipv6: false, inCluster: true, autoAddresses: false },
      unredirected,
      httpProxy,
    }),
  );

test('HTTP services of a port share a configuration; one of unknown protocol has its own where its address is known', () => {
  const http = service('http.example.com', { ports: { 80: 'HTTP', 443: 'TLS', 81: 'GRPC' } });
  const auto = service('auto.example.com', { ports: { 9000: 'Unsupported' }, address: '10.0.0.1' });
  const nowhere = service('nowhere.example.com', { ports: { 9001: 'Unsupported' } });
  const block = service('block.example.com', { ports: { 9002: 'Unsupported' }, address: '10.0.0.0/8' });
  const alias = service('alias.example.com', { ports: { 82: 'HTTP' }, resolution: 'Alias' });
  assert.deepEqual(sources([egress([http, auto, nowhere, block, alias])]), {
    80: { listener: 0, port: 80 },
    81: { listener: 0, port: 81 },
    'auto.example.com:9000': { listener: 0, port: 9000, host: 'auto.example.com' },
    9001: { listener: 0, port: 9001 },
    9002: { listener: 0, port: 9002 },
  });
});

test('without redirection each service of unknown protocol has a listener, and so a configuration, of its own', () => {
  const nowhere = service('nowhere.example.com', { ports: { 9001: 'Unsupported' } });
  const own = { 'nowhere.example.com:9001': { listener: 0, port: 9001, host: 'nowhere.example.com' } };
  assert.deepEqual(sources([egress([nowhere])], { unredirected: true }), own);
  assert.deepEqual(sources([egress([nowhere], { unredirected: true })]), own);
});

test('an egress listener with a port has the configurations of that port, and the one without all others', () => {
  const both = service('both.example.com', { ports: { 80: 'HTTP', 81: 'HTTP' } });
  const listeners = [
    egress([both], { port: 80, protocol: 'HTTP' }),
    egress([both], { port: 3128, protocol: 'HTTP_PROXY' }),
    egress([both], { port: 0, protocol: 'HTTP', bind: 'unix:///run/a.sock' }),
    egress([both]),
  ];
  assert.deepEqual(sources(listeners, { httpProxy: true }), {
    80: { listener: 0, port: 80 },
    3128: { listener: 1, port: 0 },
    'unix:///run/a.sock': { listener: 2, port: 0 },
    81: { listener: 3, port: 81 },
    http_proxy: { listener: 3, port: 0 },
  });
  assert.deepEqual(sources(listeners.slice(0, 1), { httpProxy: true })['http_proxy'], { port: 0 });
});
