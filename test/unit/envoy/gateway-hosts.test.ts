import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type BoundVirtualService, gatewayVirtualHosts } from '../../../src/envoy/gateways/virtual-hosts.ts';
import type { MergeStyle } from '../../../src/model/merged-gateway.ts';
import type { MergedServer } from '../../../src/model/merged-gateway-server.ts';

const server = (hosts: readonly string[], more: Partial<MergedServer> = {}): MergedServer => ({
  gateway: 'edge/g',
  name: '',
  port: 80,
  portName: 'http',
  protocol: 'HTTP',
  bind: '',
  hosts,
  route: 'http.8080',
  ...more,
});
const REDIRECT: Partial<MergedServer> = { tls: { httpsRedirect: true } };

const bound = (key: string, hosts: readonly string[], namespace = 'default'): BoundVirtualService => ({
  key,
  namespace,
  hosts,
});

/** `name [domains] VirtualServices tls` of each virtual host. */
function hosts(
  servers: readonly MergedServer[],
  virtualServices: Readonly<Record<string, readonly BoundVirtualService[]>>,
  style: MergeStyle = 'widest',
  without: readonly string[] = [],
): readonly string[] {
  const found = gatewayVirtualHosts({
    servers,
    style,
    virtualServices: ({ gateway }) => virtualServices[gateway] ?? [],
    hasRoutes: ({ virtualService, port }) => !without.includes(`${virtualService}:${port}`),
  });
  return found.map(({ name, domains, routes, requiresTls }) => {
    const from = routes.map(({ virtualService, port, isTls }) => `${virtualService}:${port}${isTls ? 's' : ''}`);
    return `${name} [${domains.join()}] ${from.join('+')}${requiresTls ? ' redirected' : ''}`;
  });
}

test('a host that two VirtualServices have gets the routes of both, in order', () => {
  const both = { 'edge/g': [bound('older', ['a.com', 'b.com']), bound('newer', ['a.com'])] };
  assert.deepEqual(hosts([server(['*'])], both), ['a.com:80 [a.com] older:80+newer:80', 'b.com:80 [b.com] older:80']);
});

test('of a wildcard and a host that it covers the host counts, whichever side it is on', () => {
  const wild = { 'edge/g': [bound('v', ['*.a.com', 'x.b.com', '*.c.com'])] };
  const servers = [server(['one.a.com', '*.b.com', '*.x.c.com', 'd.com'])];
  assert.deepEqual(hosts(servers, wild), ['one.a.com:80 [one.a.com,x.b.com,*.x.c.com] v:80']);
});

test('hosts with the same routes are one virtual host, named after the most specific; wildcards come last', () => {
  const same = { 'edge/g': [bound('v', ['b.com', '*.com', 'longer.com'])] };
  assert.deepEqual(hosts([server(['*'])], same), ['longer.com:80 [longer.com,b.com,*.com] v:80']);
});

test('hosts of a namespace are for VirtualServices of that namespace', () => {
  const two = { 'edge/g': [bound('v', ['a.com']), bound('w', ['a.com'], 'shop')] };
  assert.deepEqual(hosts([server(['shop/a.com'])], two), ['a.com:80 [a.com] w:80']);
});

test('a VirtualService without routes for the port names no host', () => {
  const one = { 'edge/g': [bound('v', ['a.com', 'b.com'])] };
  const servers = [server(['a.com']), server(['b.com'], { port: 81 })];
  assert.deepEqual(hosts(servers, one, 'widest', ['v:80']), ['b.com:81 [b.com] v:81']);
});

test('routes are those for the first server by which requests can come', () => {
  const one = { 'edge/g': [bound('v', ['a.com', 'b.com'])] };
  const servers = [server(['a.com']), server(['b.com'], { port: 81 })];
  assert.deepEqual(hosts(servers, one), ['a.com:80 [a.com,b.com] v:80']);
});

test('VirtualServices of two gateways on a port are told apart', () => {
  const two = { 'edge/g': [bound('v', ['a.com', 'b.com'])], 'edge/h': [bound('v', ['a.com'])] };
  const servers = [server(['*']), server(['*'], { gateway: 'edge/h' })];
  assert.deepEqual(hosts(servers, two), ['a.com:80 [a.com] v:80+v:80', 'b.com:80 [b.com] v:80']);
});

test('names are written in small letters', () => {
  assert.deepEqual(hosts([server(['*.COM'])], { 'edge/g': [bound('v', ['A.COM'])] }), ['a.com:80 [a.com] v:80']);
});

test('redirected hosts need no VirtualService; what another server adds to one stays redirected', () => {
  const one = { 'edge/g': [bound('v', ['a.com'])] };
  const servers = [server(['a.com', 'b.com', 'c.com'], REDIRECT), server(['b.com'])];
  assert.deepEqual(hosts(servers, one), ['a.com:80 [a.com] v:80s redirected', 'b.com:80 [b.com,c.com]  redirected']);
  assert.deepEqual(hosts([server(['a.com']), server(['a.com'], REDIRECT)], one), [
    'a.com:80 [a.com] v:80+v:80 redirected',
  ]);
});

test('a redirected host of a namespace is known by its name, but not to istiod', () => {
  const servers = [server(['shop/a.com'], REDIRECT)];
  assert.deepEqual(hosts(servers, {}), ['a.com:80 [a.com]  redirected']);
  assert.deepEqual(hosts(servers, {}, 'istiod'), ['shop/a.com:80 [shop/a.com]  redirected']);
});

test('nothing is named where no VirtualService has a host of a server', () => {
  assert.deepEqual(hosts([server(['a.com'])], { 'edge/g': [bound('v', ['b.com'])] }), []);
});
