import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Config } from '../../../src/config/config.ts';
import { fieldPath } from '../../../src/config/finding.ts';
import { CLUSTER_TYPE, EXTENSION_CONFIG_TYPE, LISTENER_TYPE } from '../../../src/proto/type-urls.ts';
import { type Client, meshFixture, object } from '../../support/mesh-fixture.ts';
import { luaFilter } from '../../support/patches.ts';

type Spec = Readonly<Record<string, unknown>>;

const MANAGER = 'envoy.filters.network.http_connection_manager';
const HTTP = object('ServiceEntry', 'web', {
  hosts: ['web.mesh'],
  resolution: 'STATIC',
  ports: [{ number: 80, name: 'http', protocol: 'HTTP' }],
  endpoints: [{ address: '10.0.0.1' }],
});
const ENVOY: Client = { dataplane: 'envoy' };
const filter = (...configPatches: readonly Spec[]): Config => object('EnvoyFilter', 'patches', { configPatches });
const httpFilter = (operation: string, value: Spec, subFilter = 'envoy.filters.http.router') => ({
  applyTo: 'HTTP_FILTER',
  match: {
    context: 'SIDECAR_OUTBOUND',
    listener: { filterChain: { filter: { name: MANAGER, subFilter: { name: subFilter } } } },
  },
  patch: { operation, value },
});

function started(configs: readonly Config[], clients: Readonly<Record<string, Client>>) {
  const mesh = meshFixture([HTTP, ...configs]);
  for (const [name, client] of Object.entries(clients)) mesh.connect(name, client);
  const { analysis } = mesh.pipeline;
  const watch = mesh.graph.watch(analysis.findings, 'EnvoyFilter');
  const findings = (): readonly string[] =>
    [...watch.value.entries()].flatMap(([, found]) =>
      found
        .filter(({ code }) => code.startsWith('VM'))
        .map(({ severity, code, path, message }) => `${severity} ${code} ${fieldPath(path)} ${message}`),
    );
  return { mesh, findings };
}

/** Names of the HTTP filters of the first chain. */
function httpFilters(listener: Spec | undefined): string {
  const manager = JSON.parse(JSON.stringify(listener ?? {})).filterChains?.[0]?.filters?.[0]?.typedConfig;
  return (manager?.httpFilters ?? []).map(({ name }: { name: string }) => name.split('.').at(-1)).join();
}

test('a patch that upstream Envoy would refuse is left out alone, and told', () => {
  const { mesh, findings } = started(
    [
      filter(
        httpFilter('INSERT_BEFORE', luaFilter('good')),
        { ...httpFilter('ADD', luaFilter('late')), match: { context: 'SIDECAR_OUTBOUND' } },
        httpFilter('INSERT_BEFORE', { name: 'bare' }),
      ),
    ],
    { client: ENVOY },
  );
  assert.equal(
    httpFilters(mesh.resources('client', LISTENER_TYPE).get('0.0.0.0_80')),
    'grpc_stats,alpn,fault,cors,good,router',
  );
  const [late, bare, ...more] = findings();
  assert.match(
    late ?? '',
    /^warning VM0231 spec.configPatches\[1\].patch .*client.default.*0.0.0.0_80.*"late".*before "envoy.filters.http.router"/,
  );
  assert.match(bare ?? '', /^warning VM0231 spec.configPatches\[2\].patch .*"bare".*no typed_config/);
  assert.deepEqual(more, []);
});

test('what the protos forbid is left out, whole or merged into what is there', () => {
  const bucket = (tokens: number) => ({
    '@type': 'type.googleapis.com/envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit',
    stat_prefix: 'few',
    token_bucket: { max_tokens: tokens, fill_interval: '1s' },
  });
  const { mesh, findings } = started(
    [
      filter(
        httpFilter('INSERT_BEFORE', { name: 'none', typed_config: bucket(0) }),
        httpFilter('INSERT_BEFORE', { name: 'some', typed_config: bucket(1) }),
        {
          applyTo: 'HTTP_ROUTE',
          patch: { operation: 'MERGE', value: { direct_response: { status: 7 } } },
        },
      ),
    ],
    { client: ENVOY },
  );
  const names = httpFilters(mesh.resources('client', LISTENER_TYPE).get('0.0.0.0_80'));
  assert.match(names, /cors,some,router$/);
  const [whole, merged, ...more] = findings();
  assert.match(whole ?? '', /^warning VM0231 spec.configPatches\[0\].patch .*tokenBucket.maxTokens must be above 0/);
  assert.match(
    merged ?? '',
    /^warning VM0231 spec.configPatches\[2\].patch .*directResponse.status must be at least 200/,
  );
  assert.deepEqual(more, []);
});

test('a resource that every patch would break stays as it is', () => {
  const late = { ...httpFilter('ADD', luaFilter('late')), match: { context: 'SIDECAR_OUTBOUND' } };
  const other = { applyTo: 'LISTENER', match: { listener: { portNumber: 9 } }, patch: { operation: 'REMOVE' } };
  const { mesh } = started([filter(late, other)], { client: ENVOY });
  const listener = () => mesh.resources('client', LISTENER_TYPE).get('0.0.0.0_80');
  const patched = listener();
  mesh.remove(filter());
  assert(patched);
  assert.deepEqual(patched, listener());
});

test('a proxy of Istio gets what istiod sends, whatever its Envoy makes of it', () => {
  const late = { ...httpFilter('ADD', luaFilter('late')), match: { context: 'SIDECAR_OUTBOUND' } };
  const { mesh, findings } = started([filter(late)], { client: { dataplane: 'istio' } });
  assert.match(httpFilters(mesh.resources('client', LISTENER_TYPE).get('0.0.0.0_80')), /router,late$/);
  assert.deepEqual(findings(), []);
});

test('an extension that an Envoy does not list is left out for it, and for no other', () => {
  const ROUTER = 'envoy.extensions.filters.http.router.v3.Router';
  const LUA = 'envoy.extensions.filters.http.lua.v3.Lua';
  const { mesh, findings } = started([filter(httpFilter('INSERT_BEFORE', luaFilter('lua')))], {
    without: { ...ENVOY, extensionTypes: [ROUTER] },
    with: { ...ENVOY, extensionTypes: [LUA, ROUTER] },
    silent: ENVOY,
  });
  const has = (name: string) => httpFilters(mesh.resources(name, LISTENER_TYPE).get('0.0.0.0_80')).includes('lua');
  assert.deepEqual(['without', 'with', 'silent'].map(has), [false, true, true]);
  const [only, ...more] = findings();
  assert.match(only ?? '', /VM0231 spec.configPatches\[0\].patch is left out for without.default.*lua.v3.Lua/);
  assert.deepEqual(more, []);
});

test('what only an Envoy knows goes to those alone that list it', () => {
  const type = 'envoy.extensions.filters.http.golang.v3alpha.Config';
  const config = (name: string) => ({
    applyTo: 'EXTENSION_CONFIG',
    patch: {
      operation: 'ADD',
      value: { name, typed_config: { '@type': `type.googleapis.com/${type}`, library_id: 'x' } },
    },
  });
  const { mesh } = started([filter(config('go'))], {
    with: { ...ENVOY, extensionTypes: [type] },
    silent: ENVOY,
  });
  assert.deepEqual(mesh.resources('with', EXTENSION_CONFIG_TYPE).get('go'), {
    name: 'go',
    typedConfig: {
      '@type': 'type.googleapis.com/xds.type.v3.TypedStruct',
      typeUrl: `type.googleapis.com/${type}`,
      value: { library_id: 'x' },
    },
  });
  assert.equal(mesh.resources('silent', EXTENSION_CONFIG_TYPE).size, 0);
});

test('a TypedStruct of an unknown message is left out only for an Envoy whose list is whole and lacks it', () => {
  const struct = {
    '@type': 'type.googleapis.com/xds.type.v3.TypedStruct',
    type_url: 'type.googleapis.com/shop.Auth',
    value: { realm: 'x' },
  };
  const { mesh } = started([filter(httpFilter('INSERT_BEFORE', { name: 'auth', typed_config: struct }))], {
    whole: { ...ENVOY, extensionTypes: ['envoy.extensions.filters.http.router.v3.Router'] },
    with: { ...ENVOY, extensionTypes: ['envoy.extensions.filters.http.router.v3.Router', 'shop.Auth'] },
    silent: { dataplane: 'istio' },
  });
  const has = (name: string) => httpFilters(mesh.resources(name, LISTENER_TYPE).get('0.0.0.0_80')).includes('auth');
  assert.deepEqual(['whole', 'with', 'silent'].map(has), [false, true, true]);
});

test('a cluster that is added gives way to one that is there', () => {
  const add = (name: string, altStatName: string) => ({
    applyTo: 'CLUSTER',
    patch: { operation: 'ADD', value: { name, alt_stat_name: altStatName } },
  });
  const { mesh, findings } = started(
    [filter(add('BlackHoleCluster', 'x'), add('new', 'first'), add('new', 'second'))],
    {
      client: ENVOY,
    },
  );
  const clusters = mesh.resources('client', CLUSTER_TYPE);
  assert.equal(clusters.get('BlackHoleCluster')?.['altStatName'], 'BlackHoleCluster;');
  assert.equal(clusters.get('new')?.['altStatName'], 'first');
  assert.deepEqual(
    findings().map((text) => text.split(' ', 3).join(' ')),
    ['warning VM0231 spec.configPatches[0].patch', 'warning VM0231 spec.configPatches[2].patch'],
  );
});

test('a patch that finds nothing at the proxies that it is for is told, until it does', () => {
  const { mesh, findings } = started(
    [
      filter(
        { applyTo: 'CLUSTER', match: { cluster: { service: 'db.mesh' } }, patch: { operation: 'REMOVE' } },
        httpFilter('INSERT_AFTER', luaFilter('x'), 'none'),
        { applyTo: 'CLUSTER', match: { context: 'GATEWAY' }, patch: { operation: 'REMOVE' } },
      ),
    ],
    {},
  );
  assert.deepEqual(findings(), []);
  mesh.connect('client', ENVOY);
  const of = () => findings().map((text) => text.split(' ', 3).join(' '));
  assert.deepEqual(of(), ['info VM0232 spec.configPatches[0].match', 'info VM0232 spec.configPatches[1].match']);
  mesh.edit(object('ServiceEntry', 'db', { ...(HTTP.spec as Spec), hosts: ['db.mesh'] }));
  assert.deepEqual(of(), ['info VM0232 spec.configPatches[1].match']);
});

test('a patch that can not be read leaves the others in force', () => {
  const { mesh } = started(
    [
      filter(
        { applyTo: 'CLUSTER', patch: { operation: 'MERGE', value: { connect_timeout: 'soon' } } },
        { applyTo: 'CLUSTER', patch: { operation: 'MERGE', value: { alt_stat_name: 'x' } } },
      ),
    ],
    { client: ENVOY },
  );
  assert.equal(mesh.resources('client', CLUSTER_TYPE).get('BlackHoleCluster')?.['altStatName'], 'x');
});
