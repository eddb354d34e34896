import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allows, isAbout } from './allowed.ts';
import { differences, normalized, withoutIstioFilters } from './normalize.ts';

test('durations are compared as numbers', () => {
  assert.deepEqual(normalized({ timeout: '0.250s', name: '5 s' }), normalized({ timeout: '0.25s', name: '5 s' }));
  assert.notDeepEqual(normalized({ timeout: '0.250s' }), normalized({ timeout: '0.251s' }));
});

test('the order of sets has no meaning, that of routes has', () => {
  const host = (domains: readonly string[], routes: readonly string[]) => normalized({ domains, routes });
  assert.deepEqual(host(['a', 'b'], ['x', 'y']), host(['b', 'a'], ['x', 'y']));
  assert.notDeepEqual(host(['a', 'b'], ['x', 'y']), host(['a', 'b'], ['y', 'x']));
});

test('endpoints are sorted by address, and keep their order where that is the same', () => {
  const endpoint = (address: string, weight: number) => ({ endpoint: { address: { address } }, weight });
  const list = (...lbEndpoints: readonly ReturnType<typeof endpoint>[]) => normalized({ lbEndpoints });
  assert.deepEqual(list(endpoint('b', 1), endpoint('a', 2)), list(endpoint('a', 2), endpoint('b', 1)));
  assert.notDeepEqual(list(endpoint('a', 1), endpoint('a', 2)), list(endpoint('a', 2), endpoint('a', 1)));
});

test('addresses leave the domains of a virtual host where they were arbitrary', () => {
  const domains = ['a.com', 'a.com:80', '10.0.0.1', '10.0.0.1:80', '[2001:db8::1]:80'];
  assert.deepEqual(normalized({ domains }, { withoutAddressDomains: true }), { domains: ['a.com', 'a.com:80'] });
});

test('differences name their paths, and null is as good as nothing', () => {
  assert.deepEqual(differences({ a: [{ b: 1 }], c: null }, { a: [{ b: 2 }, 'more'] }), [
    { path: '.a[0].b', expected: 1, got: 2 },
    { path: '.a[1]', expected: undefined, got: 'more' },
  ]);
});

test('an allowed path allows all below it and nothing beside it', () => {
  const line = { case: 'c', proxy: 'p', type: 'cds', resource: 'r', path: 'filters[0].name', reason: 'why' };
  const allowed = (path: string) => allows(line, { path });
  assert.equal(allowed('.filters[0].name'), true);
  assert.equal(allowed('.filters[0].name.first'), true);
  assert.equal(allowed('.filters[0].names'), false);
  assert.equal(allowed(''), false);
  assert.equal(allows({ ...line, path: '' }, { path: '.filters' }), false);
  assert.equal(allows({ ...line, path: '' }, { path: '' }), true);
});

test('an allowed name allows fields of this name wherever they stand, in the resources that the line is about', () => {
  const line = { case: 'c', proxy: 'p', type: 'lds', resource: '*', path: '*.accessLog', reason: 'why' };
  const allowed = (path: string) => allows(line, { path });
  assert.equal(allowed('.accessLog'), true);
  assert.equal(allowed('.filters[0].accessLog[0].name'), true);
  assert.equal(allowed('.filters[0].accessLogs'), false);
  assert.equal(allowed('.filters[0].name'), false);
  const about = { case: 'c', proxy: 'p', type: 'lds', resource: 'any' };
  assert.equal(isAbout(line, about), true);
  assert.equal(isAbout(line, { ...about, case: 'd' }), false);
  assert.equal(isAbout({ ...line, resource: 'other' }, about), false);
});

test('an upstream Envoy is not expected to get filters of Istio’s build', () => {
  const istio = { name: 'istio.metadata_exchange', typedConfig: {} };
  const stats = { name: 'stats', typedConfig: { typeUrl: 'type.googleapis.com/stats.PluginConfig' } };
  const router = { name: 'router' };
  assert.deepEqual(
    withoutIstioFilters({ filters: [istio], filterChains: [{ filters: [istio, router] }], httpFilters: [stats] }),
    { filterChains: [{ filters: [router] }] },
  );
});
