import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CLUSTER_TYPE, EXTENSION_CONFIG_TYPE } from '../../../src/proto/type-urls.ts';
import { meshFixture, object } from '../../support/mesh-fixture.ts';

const LUA = 'type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua';

const config = (name: string, code: string, version = '1') => ({
  applyTo: 'EXTENSION_CONFIG',
  match: { context: 'SIDECAR_INBOUND', proxy: { proxyVersion: version } },
  patch: {
    operation: 'ADD',
    value: { name, typed_config: { '@type': LUA, default_source_code: { inline_string: code } } },
  },
});

test('a proxy has the extension configs that EnvoyFilters add for it, and no other has them', () => {
  const workloadSelector = { labels: { app: 'web' } };
  const filter = (code: string) =>
    object('EnvoyFilter', 'ecds', { workloadSelector, configPatches: [config('a', code), config('old', '', '^0')] });
  const mesh = meshFixture([filter('one')], ['addedExtensionConfigs', 'ownCluster', 'envoyFilterHead']);
  mesh.connect('web', { labels: { app: 'web' }, metadata: { ISTIO_VERSION: '1.32' } });
  mesh.connect('other');
  const inline = (code: string) => ({
    a: { name: 'a', typedConfig: { '@type': LUA, defaultSourceCode: { inlineString: code } } },
  });
  const configs = () => Object.fromEntries(mesh.resources('web', EXTENSION_CONFIG_TYPE));
  assert.deepEqual(configs(), inline('one'));
  assert.deepEqual(mesh.resources('other', EXTENSION_CONFIG_TYPE).size, 0);
  const scope = mesh.pipeline.mesh.scopeOf.get('web');
  mesh.resources('web', CLUSTER_TYPE);
  mesh.ran();
  mesh.edit(filter('two'));
  assert.deepEqual(configs(), inline('two'));
  assert.equal(mesh.pipeline.mesh.scopeOf.get('web'), scope);
  mesh.resources('web', CLUSTER_TYPE);
  assert.deepEqual(mesh.ran(), ['envoyFilterHead', 'addedExtensionConfigs']);
  mesh.remove(filter('two'));
  assert.deepEqual(configs(), {});
});
