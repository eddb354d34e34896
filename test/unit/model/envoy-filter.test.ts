import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ConfigKey } from '../../../src/config/config.ts';
import {
  compareEnvoyFilters,
  type EnvoyFilterHead,
  type PatchedProxy,
  type PatchHead,
  refOf,
  selectedPatches,
} from '../../../src/model/envoy-filter.ts';

const PROXY: PatchedProxy = {
  type: 'sidecar',
  namespace: 'shop',
  labels: { app: 'web' },
  metadata: { ISTIO_VERSION: '1.32.1', CLUSTER_ID: 'west', NUMBER: 3 },
  extensionTypes: [],
};

function patch(more: Partial<PatchHead> = {}): PatchHead {
  return { index: 0, applyTo: 'CLUSTER', context: 'ANY', extensions: [], unknown: [], ...more };
}

function head(name: string, more: Partial<EnvoyFilterHead> = {}): EnvoyFilterHead {
  const namespace = more.namespace ?? 'shop';
  const key = `networking.istio.io/EnvoyFilter/${namespace}/${name}` as ConfigKey;
  return { key, namespace, name, creationTime: 0, priority: 0, patches: [patch()], ...more };
}

const isFor = (one: Partial<PatchHead>, proxy: Partial<PatchedProxy> = {}): boolean =>
  selectedPatches([head('a', { patches: [patch(one)] })], { ...PROXY, ...proxy }).length === 1;

test('the priority decides what comes first, then the root namespace, then age, then the name', () => {
  const heads = [
    head('late', { priority: 10, namespace: 'istio-system' }),
    head('b'),
    head('a'),
    head('old', { creationTime: -5 }),
    head('root', { namespace: 'istio-system', creationTime: 9 }),
    head('early', { priority: -1, creationTime: 9 }),
  ];
  const names = heads.sort(compareEnvoyFilters('istio-system')).map(({ name }) => name);
  assert.deepEqual(names, ['early', 'root', 'old', 'a', 'b', 'late']);
});

test('the context decides the kind of proxy', () => {
  for (const context of ['ANY', 'SIDECAR_INBOUND', 'SIDECAR_OUTBOUND', 'GATEWAY', 'WAYPOINT'] as const) {
    assert.equal(isFor({ context }), context !== 'GATEWAY' && context !== 'WAYPOINT', context);
    assert.equal(isFor({ context }, { type: 'router' }), context === 'ANY' || context === 'GATEWAY', context);
    // Who asks for an extension config gets it.
    assert.equal(isFor({ context, applyTo: 'EXTENSION_CONFIG' }), true);
  }
});

test('the version is matched anywhere in it; one that is not said, or an expression of too many letters, is never matched', () => {
  assert.equal(isFor({ proxyVersion: '^1\\.32.*' }), true);
  assert.equal(isFor({ proxyVersion: '32' }), true);
  assert.equal(isFor({ proxyVersion: '^1\\.31' }), false);
  assert.equal(isFor({ proxyVersion: '.*' }, { metadata: {} }), false);
  assert.equal(isFor({ proxyVersion: `(${'x'.repeat(1024)})?` }), false);
});

test('metadata must say the same text', () => {
  assert.equal(isFor({ metadata: { CLUSTER_ID: 'west' } }), true);
  assert.equal(isFor({ metadata: { CLUSTER_ID: 'west', NUMBER: '3' } }), false);
  assert.equal(isFor({ metadata: { MISSING: '' } }), false);
});

test('a selector must match; targets are for the gateways that they name', () => {
  const chosen = (more: Partial<EnvoyFilterHead>, proxy: Partial<PatchedProxy> = {}) =>
    selectedPatches([head('a', more)], { ...PROXY, ...proxy }).length === 1;
  const labels = { 'gateway.networking.k8s.io/gateway-name': 'edge' };
  const targetRefs = [{ group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'edge' }];
  assert.equal(chosen({ labels: { app: 'web' } }), true);
  assert.equal(chosen({ labels: { app: 'db' } }), false);
  assert.equal(chosen({ targetRefs }), false);
  assert.equal(chosen({ targetRefs }, { type: 'router', labels }), true);
  assert.equal(chosen({ targetRefs, namespace: 'istio-system' }, { type: 'router', labels }), false);
  assert.equal(chosen({ targetRefs: [{ ...targetRefs[0], kind: 'Service', name: 'edge' }] }, { labels }), false);
  assert.equal(chosen({}, { type: 'router', labels }), true);
});

test('patches keep the place that they have in their EnvoyFilter', () => {
  const patches = [patch(), patch({ index: 3 }), patch({ index: 4, applyTo: 'BOOTSTRAP' })];
  const refs = selectedPatches([head('a#1', { patches })], PROXY);
  assert.deepEqual(refs.map(refOf), [
    { key: 'networking.istio.io/EnvoyFilter/shop/a#1', index: 0 },
    { key: 'networking.istio.io/EnvoyFilter/shop/a#1', index: 3 },
  ]);
});
