import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Config } from '../../../src/config/config.ts';
import { LISTENER_TYPE } from '../../../src/proto/type-urls.ts';
import { type Client, type MeshFixture, meshFixture, object } from '../../support/mesh-fixture.ts';

type Spec = Readonly<Record<string, unknown>>;
/** A message as proto JSON. */
// biome-ignore lint/suspicious/noExplicitAny: its fields are looked at one by one
type Message = any;

const HCM = 'envoy.filters.network.http_connection_manager';

const service = (name: string, namespace = 'shop') =>
  object(
    'ServiceEntry',
    name,
    {
      hosts: [`${name}.mesh`],
      location: 'MESH_INTERNAL',
      resolution: 'STATIC',
      ports: [{ number: 8080, name: 'http', protocol: 'HTTP' }],
      endpoints: [{ address: '10.20.0.1' }],
    },
    namespace,
  );
const telemetry = (name: string, spec: Spec, namespace = 'shop') => object('Telemetry', name, spec, namespace);
const meshConfig = (spec: Spec) =>
  object('MeshConfig', 'mesh', {
    extensionProviders: [
      { name: 'otel', envoyOtelAls: { service: 'otel.mesh', port: 8080 } },
      { name: 'file', envoyFileAccessLog: { path: '/log' } },
      { name: 'spans', opentelemetry: { service: 'otel.mesh', port: 8080 } },
    ],
    ...spec,
  });
const GATEWAY = object(
  'Gateway',
  'web',
  { selector: { app: 'gw' }, servers: [{ port: { number: 80, name: 'http', protocol: 'HTTP' }, hosts: ['*'] }] },
  'edge',
);
const ROUTES = object(
  'VirtualService',
  'web',
  { hosts: ['*'], gateways: ['web'], http: [{ route: [{ destination: { host: 'orders.mesh' } }] }] },
  'edge',
);

/** The HTTP connection managers of a listener, and its own loggers. */
function listenerOf(mesh: MeshFixture, client: string, name: string) {
  const listener: Message = mesh.resources(client, LISTENER_TYPE).get(name);
  assert(listener, `${client} has no listener ${name}`);
  const filters: readonly Message[] = (listener.filterChains ?? []).flatMap((chain: Message) => chain.filters ?? []);
  const managers = filters.filter(({ name: filter }) => filter === HCM).map(({ typedConfig }) => typedConfig);
  const loggers = (list: readonly Message[] = []) => list.map(({ name: logger }) => logger);
  return {
    manager: managers[0],
    loggers: loggers(managers[0]?.accessLog),
    ownLoggers: loggers(listener.accessLog),
    httpFilters: (managers[0]?.httpFilters ?? []) as readonly Message[],
  };
}

function connected(configs: readonly Config[], client: Client, name = 'client'): MeshFixture {
  const mesh = meshFixture(configs);
  mesh.connect(name, client);
  return mesh;
}

const SIDECAR: Client = { namespace: 'shop', labels: { app: 'web' }, dataplane: 'envoy' };
const OUTBOUND = '0.0.0.0_8080';

test('default providers are used where no Telemetry says anything', () => {
  const defaults = { defaultProviders: { accessLogging: ['otel'], tracing: ['spans'], metrics: ['prometheus'] } };
  const client = { ...SIDECAR, extensions: ['istio.stats'] };
  const mesh = connected([service('otel'), meshConfig(defaults)], client);
  for (const [name, isInbound] of [
    [OUTBOUND, false],
    ['virtualInbound', true],
  ] as const) {
    const { manager, loggers, httpFilters } = listenerOf(mesh, 'client', name);
    assert.deepEqual(loggers, ['envoy.access_loggers.open_telemetry']);
    assert.equal(manager.tracing.provider.name, 'envoy.tracers.opentelemetry');
    const stats = httpFilters.find(({ name: filter }) => filter === 'istio.stats');
    assert.equal(stats?.typedConfig.disableHostHeaderFallback ?? false, isInbound);
  }
});

test('a gateway is a client: what servers log is not for it, and its spans are its own', () => {
  const spec = {
    accessLogging: [
      { match: { mode: 'CLIENT' }, providers: [{ name: 'otel' }] },
      { match: { mode: 'SERVER' }, providers: [{ name: 'file' }] },
    ],
    tracing: [{ providers: [{ name: 'spans' }] }],
    metrics: [{ providers: [{ name: 'prometheus' }] }],
  };
  const router: Client = { type: 'router', namespace: 'edge', labels: { app: 'gw' }, extensions: ['istio.stats'] };
  const configs = [service('otel'), service('orders'), meshConfig({}), GATEWAY, ROUTES];
  const mesh = connected([...configs, telemetry('edge', spec, 'edge')], router, 'edge-1');
  const { manager, loggers, ownLoggers, httpFilters } = listenerOf(mesh, 'edge-1', '0.0.0.0_80');
  assert.deepEqual(
    [loggers, ownLoggers],
    [['envoy.access_loggers.open_telemetry'], ['envoy.access_loggers.open_telemetry']],
  );
  assert.equal(manager.tracing.spawnUpstreamSpan, true);
  const stats = httpFilters.find(({ name }) => name === 'istio.stats');
  assert.equal(stats.typedConfig.disableHostHeaderFallback, true);
});

test('what logs to mesh.yaml is what Telemetries leave: none of their own for this traffic', () => {
  const spec = { accessLogging: [{ match: { mode: 'CLIENT' }, providers: [{ name: 'otel' }] }] };
  const configs = [service('otel'), meshConfig({ accessLogFile: '/dev/stdout' }), telemetry('web', spec)];
  const mesh = connected(configs, SIDECAR);
  assert.deepEqual(listenerOf(mesh, 'client', OUTBOUND).loggers, ['envoy.access_loggers.open_telemetry']);
  assert.deepEqual(listenerOf(mesh, 'client', 'virtualInbound').loggers, ['envoy.access_loggers.file']);
  mesh.edit(telemetry('web', { accessLogging: [{ providers: [{ name: 'otel' }], disabled: true }] }));
  assert.deepEqual(listenerOf(mesh, 'client', 'virtualInbound').loggers, []);
});

test('a provider whose service two namespaces have is used when its namespace is written', () => {
  const spec = { accessLogging: [{ providers: [{ name: 'otel' }] }] };
  const configs = [service('otel'), service('otel', 'edge'), meshConfig({}), telemetry('web', spec)];
  const mesh = connected(configs, SIDECAR);
  assert.deepEqual(listenerOf(mesh, 'client', OUTBOUND).loggers, []);
  mesh.edit(
    meshConfig({ extensionProviders: [{ name: 'otel', envoyOtelAls: { service: 'edge/otel.mesh', port: 8080 } }] }),
  );
  assert.deepEqual(listenerOf(mesh, 'client', OUTBOUND).loggers, ['envoy.access_loggers.open_telemetry']);
  mesh.remove(service('otel', 'edge'));
  assert.deepEqual(listenerOf(mesh, 'client', OUTBOUND).loggers, []);
});

test('an Envoy that was built without an extension gets what it has', () => {
  const spec = {
    accessLogging: [
      { providers: [{ name: 'otel' }], filter: { expression: 'response.code >= 400' } },
      { providers: [{ name: 'file' }] },
    ],
    tracing: [{ providers: [{ name: 'spans' }] }],
  };
  const configs = [service('otel'), meshConfig({}), telemetry('web', spec)];
  const has = ['envoy.access_loggers.file', 'envoy.access_loggers.open_telemetry'];
  const seen = (extensions: readonly string[]) => {
    const mesh = connected(configs, { ...SIDECAR, extensions });
    const { manager, loggers, ownLoggers } = listenerOf(mesh, 'client', OUTBOUND);
    return { loggers, ownLoggers, tracer: manager.tracing?.provider.name };
  };
  const file = ['envoy.access_loggers.file'];
  assert.deepEqual(seen([HCM, ...has]), { loggers: file, ownLoggers: [], tracer: undefined });
  assert.deepEqual(seen([HCM, ...has, 'envoy.access_loggers.extension_filters.cel', 'envoy.tracers.opentelemetry']), {
    loggers: [...file, 'envoy.access_loggers.open_telemetry'],
    ownLoggers: [],
    tracer: 'envoy.tracers.opentelemetry',
  });
  // A few names are no list of all: such a node is taken for one that has everything.
  assert.deepEqual(seen(['istio.alpn']).loggers.length, 2);
});
