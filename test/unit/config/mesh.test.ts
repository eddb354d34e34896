import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MeshConfig } from '#generated/config/specs.ts';
import type { Config } from '../../../src/config/config.ts';
import { DEFAULT_MESH_CONFIG, effectiveMesh } from '../../../src/config/mesh.ts';
import { MESH } from '../../../src/config/mesh-files.ts';
import { parseFile } from '../../../src/config/parse.ts';

function effective(text: string, rootNamespace?: string): MeshConfig {
  const options = { source: 's', namespace: '', strict: false, whole: MESH };
  const [config] = parseFile('mesh.yaml', text, options).configs;
  assert.ok(config, text);
  return effectiveMesh(config as Config<MeshConfig>, rootNamespace);
}

test("without mesh.yaml Istio's defaults are in force", () => {
  assert.deepEqual(effectiveMesh(undefined), DEFAULT_MESH_CONFIG);
  assert.deepEqual(effective(''), { ...DEFAULT_MESH_CONFIG });
});

test('a field that is set replaces the default, whole', () => {
  const mesh = effective('connectTimeout: 1s\nenableAutoMtls: false\noutboundTrafficPolicy: {mode: REGISTRY_ONLY}\n');
  assert.equal(mesh.connectTimeout, '1s');
  assert.equal(mesh.enableAutoMtls, false);
  assert.deepEqual(mesh.outboundTrafficPolicy, { mode: 'REGISTRY_ONLY' });
  assert.equal(mesh.trustDomain, 'cluster.local');
});

test('the root namespace comes from mesh.yaml, else from the server', () => {
  assert.equal(effective('', 'own').rootNamespace, 'own');
  assert.equal(effective('rootNamespace: mesh', 'own').rootNamespace, 'mesh');
  assert.equal(effectiveMesh(undefined, 'own').rootNamespace, 'own');
});

test('defaultConfig is merged field by field', () => {
  const { defaultConfig } = effective('defaultConfig:\n  drainDuration: 5s\n  proxyMetadata: {A: b}\n');
  assert.deepEqual(defaultConfig, {
    ...DEFAULT_MESH_CONFIG.defaultConfig,
    drainDuration: '5s',
    proxyMetadata: { A: 'b' },
  });
});

test('extension providers are merged by name, in the order of the defaults', () => {
  const { extensionProviders = [] } = effective(
    'extensionProviders:\n- name: zipkin\n  zipkin: {service: zipkin.test, port: 9411}\n- name: envoy\n  envoyFileAccessLog: {path: /log}\n',
  );
  assert.deepEqual(
    extensionProviders.map(({ name }) => name),
    ['prometheus', 'stackdriver', 'envoy', 'zipkin'],
  );
  assert.deepEqual(extensionProviders[2], { name: 'envoy', envoyFileAccessLog: { path: '/log' } });
});

test('default providers are merged field by field, trust domain aliases are a sorted set', () => {
  const mesh = effective('defaultProviders: {metrics: [prometheus]}\ntrustDomainAliases: [b, a, b]\n');
  assert.deepEqual(mesh.defaultProviders, { metrics: ['prometheus'] });
  assert.deepEqual(mesh.trustDomainAliases, ['a', 'b']);
});
