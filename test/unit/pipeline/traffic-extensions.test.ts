import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../../src/base/json.ts';
import { EXTENSION_CONFIG_TYPE, LISTENER_TYPE } from '../../../src/proto/type-urls.ts';
import { type MeshFixture, meshFixture, object } from '../../support/mesh-fixture.ts';

const PREFIX = 'extensions.istio.io/trafficextension/';
const SHA = 'a'.repeat(64);

const plugin = (name: string, spec: JsonObject) => object('WasmPlugin', name, { url: 'file:///m.wasm', ...spec });
const script = (name: string, spec: JsonObject = {}) =>
  object('TrafficExtension', name, { lua: { inlineCode: '-- nothing' }, ...spec });
const service = object('ServiceEntry', 'web', {
  hosts: ['web.mesh'],
  location: 'MESH_INTERNAL',
  resolution: 'STATIC',
  ports: [
    { number: 80, name: 'http', protocol: 'HTTP', targetPort: 8080 },
    { number: 9000, name: 'tcp', protocol: 'TCP' },
  ],
  endpoints: [{ address: '10.0.0.9', labels: { app: 'web' } }],
});

/** The short names of the filters of a listener's chains that extensions have, by the chain's port and protocol. */
function filtersOf(mesh: MeshFixture, proxy: string, listener: string): readonly string[] {
  const found = JSON.stringify(mesh.resources(proxy, LISTENER_TYPE).get(listener));
  return [...found.matchAll(/"name":"extensions\.istio\.io\/trafficextension\/default\.([^"~]+)/g)].map(
    ([, name = '']) => name,
  );
}

function configOf(mesh: MeshFixture, proxy: string, name: string): JsonObject {
  const config = mesh.resources(proxy, EXTENSION_CONFIG_TYPE).get(`${PREFIX}default.${name}`);
  assert.ok(config !== undefined, `${name} is not there`);
  return config['typedConfig'] as JsonObject;
}

test('filters stand by phase, then by priority, then by age and name; only traffic that they are for meets them', () => {
  const mesh = meshFixture([
    service,
    plugin('last', {}),
    script('low', { phase: 'AUTHN', priority: -1 }),
    plugin('high', { phase: 'AUTHN', priority: 9 }),
    plugin('b', { phase: 'AUTHN' }),
    script('a', { phase: 'AUTHN' }),
    plugin('rules', { phase: 'AUTHZ', match: [{ mode: 'CLIENT' }] }),
    plugin('port', { phase: 'STATS', match: [{ mode: 'SERVER', ports: [{ number: 80 }] }] }),
    plugin('others', { selector: { matchLabels: { app: 'other' } } }),
  ]);
  mesh.connect('web');
  assert.deepEqual(filtersOf(mesh, 'web', '0.0.0.0_80'), ['high', 'low', 'a', 'b', 'rules', 'last']);
  const inbound = filtersOf(mesh, 'web', 'virtualInbound');
  assert.ok(!inbound.includes('rules') && !inbound.includes('port') && !inbound.includes('others'));
  assert.deepEqual([...new Set(inbound)], ['high', 'low', 'a', 'b', 'last']);
});

test('modules for connections stand before what speaks HTTP and before what passes bytes on', () => {
  const mesh = meshFixture([service, plugin('n', { type: 'NETWORK' })]);
  mesh.connect('web');
  const listener = mesh.resources('web', LISTENER_TYPE).get('0.0.0.0_80') as JsonObject;
  const [chain] = listener['filterChains'] as readonly JsonObject[];
  assert.ok(chain !== undefined);
  const names = (chain['filters'] as readonly JsonObject[]).map(({ name }) => name);
  assert.deepEqual(names, [
    `${PREFIX}default.n~istio-translated-wasmplugin`,
    'envoy.filters.network.http_connection_manager',
  ]);
  assert.deepEqual(filtersOf(mesh, 'web', '0.0.0.0_9000'), ['n']);
  assert.equal(
    configOf(mesh, 'web', 'n~istio-translated-wasmplugin')['@type'],
    'type.googleapis.com/envoy.extensions.filters.network.wasm.v3.Wasm',
  );
});

test('an agent fetches what Envoy can not; without one a filter that fails closed refuses everything', () => {
  const wasm = (url: string, more: JsonObject = {}) => ({ wasm: { url, ...more } });
  const mesh = meshFixture([
    object('ServiceEntry', 'modules', {
      hosts: ['modules.example'],
      resolution: 'DNS',
      ports: [{ number: 443, name: 'https', protocol: 'HTTPS' }],
    }),
    object(
      'TrafficExtension',
      'image',
      wasm('registry.example/m:1', { vmConfig: { env: [{ name: 'A', value: 'b' }] } }),
    ),
    object('TrafficExtension', 'open', wasm('oci://registry.example/m:1', { failStrategy: 'FAIL_OPEN' })),
    object('TrafficExtension', 'known', wasm('https://modules.example/m.wasm', { sha256: SHA })),
    object('TrafficExtension', 'unknown', wasm('https://other.example/m.wasm', { sha256: SHA, type: 'NETWORK' })),
  ]);
  mesh.connect('istio');
  mesh.connect('envoy', { dataplane: 'envoy' });
  const codeOf = (proxy: string, name: string): unknown => {
    const config = configOf(mesh, proxy, name)['config'] as JsonObject;
    return (config['vmConfig'] as JsonObject)['code'];
  };
  const remote = (uri: string, cluster: string, more: JsonObject = {}) => ({
    remote: { httpUri: { uri, cluster, timeout: '30s' }, ...more },
  });
  assert.deepEqual(codeOf('istio', 'image'), remote('oci://registry.example/m:1', '_'));
  assert.deepEqual(codeOf('istio', 'known'), remote('https://modules.example/m.wasm', '_', { sha256: SHA }));
  const cluster = 'outbound|443||modules.example';
  assert.deepEqual(codeOf('envoy', 'known'), remote('https://modules.example/m.wasm', cluster, { sha256: SHA }));
  const rbac = (kind: string) => `type.googleapis.com/envoy.extensions.filters.${kind}.rbac.v3.RBAC`;
  assert.deepEqual(configOf(mesh, 'envoy', 'image'), {
    '@type': rbac('http'),
    rules: {},
    rulesStatPrefix: 'wasm-default-deny',
  });
  assert.deepEqual(configOf(mesh, 'envoy', 'open'), { '@type': rbac('http'), rulesStatPrefix: 'wasm-default-allow' });
  assert.deepEqual(configOf(mesh, 'envoy', 'unknown'), {
    '@type': rbac('network'),
    rules: {},
    statPrefix: 'wasm-default-deny',
  });
});

test('the configuration of a module is a text in JSON, and a change of it touches no listener', () => {
  const wasm = (pluginConfig: JsonObject) => plugin('m', { pluginConfig, pluginName: 'root' });
  const mesh = meshFixture(
    [service, wasm({ b: 1, a: { c: [true, null] } })],
    ['wasmExtensionConfig', 'inboundListener'],
  );
  mesh.connect('web');
  const configuration = (): unknown => {
    const config = configOf(mesh, 'web', 'm~istio-translated-wasmplugin')['config'] as JsonObject;
    assert.equal(config['rootId'], 'root');
    return config['configuration'];
  };
  const text = (value: string) => ({ '@type': 'type.googleapis.com/google.protobuf.StringValue', value });
  assert.deepEqual(configuration(), text('{"a":{"c":[true,null]},"b":1}'));
  mesh.resources('web', LISTENER_TYPE);
  mesh.ran();
  mesh.edit(wasm({ b: 2 }));
  assert.deepEqual(configuration(), text('{"b":2}'));
  mesh.resources('web', LISTENER_TYPE);
  assert.deepEqual(mesh.ran(), ['wasmExtensionConfig']);
});

test('a module that only an agent can fetch is a finding at its URL', () => {
  const mesh = meshFixture([
    plugin('image', { url: 'registry.example/m:1' }),
    plugin('bare', { url: 'http://a.example/m' }),
  ]);
  const found = (): readonly string[] =>
    [...mesh.pipeline.analysis.findings.get('WasmPlugin').entries()].map(
      ([, [finding]]) => `${finding?.code} ${finding?.severity} ${finding?.path.join('.')}`,
    );
  mesh.connect('istio');
  assert.deepEqual(found(), ['VM0215 error spec.url']);
  mesh.connect('envoy', { dataplane: 'envoy' });
  assert.deepEqual(found(), ['VM0215 warning spec.url', 'VM0215 error spec.url']);
});
