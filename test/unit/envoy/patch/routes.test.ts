import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { envoy } from '#generated/proto/types.ts';
import type { Patch } from '../../../../src/envoy/patch/patch.ts';
import { patchedRoutes, patchesOfRoutes } from '../../../../src/envoy/patch/routes.ts';
import { patch } from '../../../support/patches.ts';

type RouteConfiguration = envoy.config.route.v3.RouteConfiguration;

const CONFIGURATION: RouteConfiguration = {
  name: '8000',
  virtualHosts: [
    {
      name: 'a',
      domains: ['a.test', 'a'],
      routes: [
        { name: 'sent', match: { prefix: '/' }, route: { cluster: 'x' } },
        { name: 'moved', match: { prefix: '/' }, redirect: {} },
        { name: 'told', match: { prefix: '/' }, directResponse: { status: 404 } },
      ],
    },
    { name: 'b', domains: ['b.test'], routes: [{ name: 'b', match: { prefix: '/' }, route: { cluster: 'y' } }] },
  ],
};

/** `host:route,route …` after the patches. */
function made(...patches: readonly Patch[]): string {
  const { virtualHosts = [] } = patchedRoutes(CONFIGURATION, patches).object;
  return virtualHosts.map(({ name, routes = [] }) => `${name}:${routes.map((r) => r.name).join()}`).join(' ');
}

const at = (vhost: object) => ({ routeConfiguration: { vhost } });
const route = (name: string) => ({ name, match: { prefix: '/' } });

test('routes are removed and inserted by name and by what they do', () => {
  const remove = (match: object) => made(patch('HTTP_ROUTE', 'REMOVE', undefined, at({ name: 'a', route: match })));
  assert.equal(remove({ action: 'ROUTE' }), 'a:moved,told b:b');
  assert.equal(remove({ action: 'REDIRECT' }), 'a:sent,told b:b');
  assert.equal(remove({ action: 'DIRECT_RESPONSE' }), 'a:sent,moved b:b');
  assert.equal(remove({ action: 'ANY' }), 'a: b:b');
  assert.equal(remove({ name: 'moved', action: 'ROUTE' }), 'a:sent,moved,told b:b');
  const insert = (operation: Parameters<typeof patch>[1], match: object = {}) =>
    made(patch('HTTP_ROUTE', operation, route('new'), at({ name: 'a', ...match })));
  const moved = { route: { name: 'moved' } };
  assert.equal(insert('ADD'), 'a:sent,moved,told,new b:b');
  assert.equal(insert('INSERT_FIRST'), 'a:new,sent,moved,told b:b');
  assert.equal(insert('INSERT_FIRST', moved), 'a:new,sent,moved,told b:b');
  assert.equal(insert('INSERT_FIRST', { route: { name: 'none' } }), 'a:sent,moved,told b:b');
  assert.equal(insert('INSERT_BEFORE', moved), 'a:sent,new,moved,told b:b');
  assert.equal(insert('INSERT_AFTER', moved), 'a:sent,moved,new,told b:b');
  assert.equal(insert('INSERT_AFTER', { route: { name: 'none' } }), 'a:sent,moved,told b:b');
});

test('virtual hosts are added, removed, replaced and merged', () => {
  assert.equal(made(patch('VIRTUAL_HOST', 'REMOVE', undefined, at({ domainName: 'a.test' }))), 'b:b');
  assert.equal(made(patch('VIRTUAL_HOST', 'ADD', { name: 'c' }, at({ name: 'none' }))), 'a:sent,moved,told b:b c:');
  assert.equal(made(patch('VIRTUAL_HOST', 'REPLACE', { name: 'c' }, at({ name: 'b' }))), 'a:sent,moved,told c:');
  assert.equal(made(patch('VIRTUAL_HOST', 'MERGE', { name: 'c' }, at({ name: 'b' }))), 'a:sent,moved,told c:b');
  const lists = patch('VIRTUAL_HOST', 'MERGE_AND_REPLACE_LIST', { domains: ['c.test'] }, at({ name: 'b' }));
  assert.deepEqual(patchedRoutes(CONFIGURATION, [lists]).object.virtualHosts?.[1]?.domains, ['c.test']);
});

test('patches are told by the place: what a configuration is for stands in its name', () => {
  const is = (
    name: string,
    match: object,
    context: 'GATEWAY' | 'SIDECAR_OUTBOUND' = 'SIDECAR_OUTBOUND',
    ports = {},
  ) => {
    const one = patch('ROUTE_CONFIGURATION', 'MERGE', {}, { routeConfiguration: match });
    return patchesOfRoutes({ patches: [one] }, { name }, context, ports).length === 1;
  };
  assert.equal(is('80', { portNumber: 80 }), true);
  assert.equal(is('a.test:80', { portNumber: 80 }), false);
  assert.equal(is('a.test:80', { name: 'a.test:80' }), true);
  assert.equal(is('80', { gateway: 'x/y' }), true);
  const https = 'https.443.web.gw.shop';
  assert.equal(is(https, { gateway: 'shop/gw', portName: 'web', portNumber: 443 }, 'GATEWAY'), true);
  assert.equal(is(https, { gateway: 'shop/other' }, 'GATEWAY'), false);
  assert.equal(is(https, { portName: 'other' }, 'GATEWAY'), false);
  assert.equal(is('http.8080', { portNumber: 8080 }, 'GATEWAY'), true);
  assert.equal(is('http.8080', { portNumber: 80 }, 'GATEWAY', { 8080: [80] }), true);
  assert.equal(is('http.8080', { portNumber: 8080 }, 'GATEWAY', { 8080: [80] }), false);
  assert.equal(is('http.8080', { gateway: 'shop/gw' }, 'GATEWAY'), false);
});
