import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Config, ConfigKey } from '../../../src/config/config.ts';
import { Graph } from '../../../src/derive/graph.ts';
import { proxyOfNode } from '../../../src/model/node.ts';
import type { ProxyScope } from '../../../src/model/scope.ts';
import { DEFAULT_MESH_OPTIONS } from '../../../src/pipeline/options.ts';
import { createPipeline } from '../../../src/pipeline/pipeline.ts';
import { LISTENER_TYPE } from '../../../src/proto/type-urls.ts';
import { object } from '../../support/mesh-fixture.ts';

type Spec = Readonly<Record<string, unknown>>;

const HTTP = object('ServiceEntry', 'web', {
  hosts: ['web.example.com'],
  location: 'MESH_INTERNAL',
  resolution: 'STATIC',
  ports: [{ number: 80, name: 'http', protocol: 'HTTP' }],
  endpoints: [{ address: '10.0.0.1' }],
});
const TCP = object('ServiceEntry', 'db', {
  hosts: ['db.example.com'],
  addresses: ['10.9.0.1'],
  location: 'MESH_INTERNAL',
  resolution: 'STATIC',
  ports: [{ number: 5432, name: 'tcp', protocol: 'TCP' }],
  endpoints: [{ address: '10.0.0.2' }],
});
const headless = (...endpoints: readonly string[]) =>
  object('ServiceEntry', 'peers', {
    hosts: ['peers.example.com'],
    location: 'MESH_INTERNAL',
    resolution: 'NONE',
    ports: [{ number: 7000, name: 'tcp', protocol: 'TCP' }],
    endpoints: endpoints.map((address) => ({ address })),
  });
const httpRoute = (weight: number) =>
  object('VirtualService', 'web', {
    hosts: ['web.example.com'],
    http: [{ route: [{ destination: { host: 'web.example.com' }, weight }] }],
  });
const tcpRoute = (weight: number) =>
  object('VirtualService', 'db', {
    hosts: ['db.example.com'],
    tcp: [
      {
        route: [
          { destination: { host: 'db.example.com' }, weight },
          { destination: { host: 'web.example.com', port: { number: 80 } }, weight: 100 - weight },
        ],
      },
    ],
  });
const idleTimeout = (timeout: string) =>
  object('DestinationRule', 'db', {
    host: 'db.example.com',
    trafficPolicy: { connectionPool: { tcp: { idleTimeout: timeout } } },
  });
const mesh = (spec: Spec) => object('MeshConfig', 'mesh', spec);

interface Client {
  readonly ip: string;
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

/** Derivations that make a listener's bytes. */
const TRANSLATIONS: ReadonlySet<string> = new Set(['outboundListener', 'inboundListener', 'virtualOutbound']);

function started(configs: readonly Config[], clients: readonly Client[]) {
  let translated = 0;
  const graph = new Graph({
    paranoid: true,
    onCompute: (name) => {
      if (TRANSLATIONS.has(name)) translated++;
    },
  });
  const input = graph.input<ConfigKey, Config>('config');
  graph.batch(() => {
    for (const config of configs) input.set(config.key, config);
  });
  const pipeline = createPipeline(graph, input, DEFAULT_MESH_OPTIONS);
  const listeners = pipeline.resources.get(LISTENER_TYPE);
  assert.ok(listeners);
  const sets = clients.map(({ ip, namespace = 'default', labels = {} }) => {
    const proxy = proxyOfNode({
      id: `sidecar~${ip}~app.${namespace}~${namespace}.svc.cluster.local`,
      metadata: { NAMESPACE: namespace, LABELS: labels, CLUSTER_ID: 'Kubernetes', SDS: 'true' },
      extensions: [],
    });
    assert.ok('nodeId' in proxy);
    graph.batch(() => pipeline.mesh.proxies.set(proxy.nodeId, proxy));
    const scope = pipeline.mesh.scopeOf.get(proxy.nodeId);
    assert.ok(scope);
    return graph.watch<ProxyScope, ReturnType<typeof listeners.get>>(listeners, scope).value;
  });
  const versions = () => sets.map((set) => new Map([...set.entries()].map(([name, { version }]) => [name, version])));
  let before = versions();
  translated = 0;
  return {
    names: (i = 0) => [...(before[i]?.keys() ?? [])],
    version: (name: string, i = 0) => before[i]?.get(name),
    edit: (change: Config | ConfigKey) => {
      translated = 0;
      graph.batch(() => (typeof change === 'string' ? input.set(change, undefined) : input.set(change.key, change)));
      const after = versions();
      const changed = after.flatMap((set, i) => {
        const old = before[i] ?? new Map<string, string>();
        const names = [...new Set([...set.keys(), ...old.keys()])].sort();
        return names.filter((name) => set.get(name) !== old.get(name));
      });
      before = after;
      return { changed, translated };
    },
  };
}

const ONE_CLIENT: readonly Client[] = [{ ip: '10.0.0.9' }];

test('a proxy has a listener per HTTP port, per TCP address, and the two for captured traffic', () => {
  const { names } = started([HTTP, TCP], ONE_CLIENT);
  assert.deepEqual(names(), ['0.0.0.0_80', '10.9.0.1_5432', 'virtualInbound', 'virtualOutbound']);
});

test('a change of an HTTP route translates no listener', () => {
  const mesh = started([HTTP, TCP, httpRoute(100)], ONE_CLIENT);
  assert.deepEqual(mesh.edit(httpRoute(50)), { changed: [], translated: 0 });
  assert.deepEqual(mesh.edit(httpRoute(50).key), { changed: [], translated: 0 });
});

test('a moved endpoint translates no listener', () => {
  const mesh = started([HTTP, TCP], ONE_CLIENT);
  const moved = object('ServiceEntry', 'db', { ...(TCP.spec as Spec), endpoints: [{ address: '10.0.0.3' }] });
  assert.deepEqual(mesh.edit(moved), { changed: [], translated: 0 });
});

test('a new endpoint of a headless TCP service is a new listener and no other', () => {
  const mesh = started([HTTP, TCP, headless('10.0.1.1')], ONE_CLIENT);
  assert.deepEqual(mesh.edit(headless('10.0.1.1', '10.0.1.2')), { changed: ['10.0.1.2_7000'], translated: 1 });
});

test('endpoints that another object gives the host count for the port of a headless service, whatever its name there', () => {
  const other = object('ServiceEntry', 'other', {
    hosts: (headless().spec as Spec)['hosts'],
    location: 'MESH_INTERNAL',
    resolution: 'STATIC',
    addresses: ['10.9.0.7'],
    ports: [{ number: 7000, name: 'other', protocol: 'TCP' }],
    endpoints: [{ address: '10.0.2.1' }],
  });
  const { names } = started([headless('10.0.1.1'), other], ONE_CLIENT);
  assert.deepEqual(
    names().filter((name) => name.startsWith('10.0.')),
    ['10.0.1.1_7000', '10.0.2.1_7000'],
  );
});

test('a proxy has no listener for itself as an endpoint of a headless service', () => {
  const entry = headless('10.0.1.1', '10.0.1.2');
  const mesh = started([entry], [{ ip: '10.0.1.1' }, { ip: '10.0.1.2' }, { ip: '10.0.1.3' }]);
  assert.deepEqual(mesh.names(0), ['10.0.1.2_7000', 'virtualInbound', 'virtualOutbound']);
  assert.deepEqual(mesh.names(1), ['10.0.1.1_7000', 'virtualInbound', 'virtualOutbound']);
  assert.deepEqual(mesh.names(2), ['10.0.1.1_7000', '10.0.1.2_7000', 'virtualInbound', 'virtualOutbound']);
});

test('a weight of a TCP route changes the listener of its service alone', () => {
  const mesh = started([HTTP, TCP, tcpRoute(80)], ONE_CLIENT);
  assert.deepEqual(mesh.edit(tcpRoute(50)), { changed: ['10.9.0.1_5432'], translated: 1 });
});

test('a DestinationRule changes the listener of its service alone', () => {
  const mesh = started([HTTP, TCP], ONE_CLIENT);
  assert.deepEqual(mesh.edit(idleTimeout('5s')), { changed: ['10.9.0.1_5432'], translated: 1 });
  assert.deepEqual(mesh.edit(idleTimeout('5000ms')).changed, []);
});

test('access logs change each listener once, however many proxies have it', () => {
  const mesh0 = started([HTTP, TCP], [{ ip: '10.0.0.9' }, { ip: '10.0.0.8', namespace: 'other' }]);
  const { changed, translated } = mesh0.edit(mesh({ accessLogFile: '/dev/stdout' }));
  assert.equal(changed.length, 8);
  // What carries the namespace in its traces is per proxy: the HTTP port and the inbound listener.
  assert.equal(translated, 6);
});

test('proxies of two namespaces share listeners that say nothing of their workload', () => {
  const { version } = started([TCP], [{ ip: '10.0.0.9' }, { ip: '10.0.0.8', namespace: 'other' }]);
  assert.equal(version('10.9.0.1_5432', 0), version('10.9.0.1_5432', 1));
  assert.equal(version('virtualOutbound', 0), version('virtualOutbound', 1));
});

test('a stricter policy changes the inbound listener of those that it selects', () => {
  const app = { app: 'a' };
  const mesh = started(
    [HTTP, TCP],
    [
      { ip: '10.0.0.9', labels: app },
      { ip: '10.0.0.8', namespace: 'other' },
    ],
  );
  const strict = { mtls: { mode: 'STRICT' }, selector: { matchLabels: app } };
  assert.deepEqual(mesh.edit(object('PeerAuthentication', 'strict', strict)), {
    changed: ['virtualInbound'],
    translated: 1,
  });
});

test('an authorization policy changes the inbound listener of those that it selects', () => {
  const mesh = started([HTTP, TCP], [{ ip: '10.0.0.9' }, { ip: '10.0.0.8', namespace: 'other' }]);
  const policy = (path: string) =>
    object('AuthorizationPolicy', 'paths', { rules: [{ to: [{ operation: { paths: [path] } }] }] });
  assert.deepEqual(mesh.edit(policy('/a')), { changed: ['virtualInbound'], translated: 1 });
  assert.deepEqual(mesh.edit(policy('/b')), { changed: ['virtualInbound'], translated: 1 });
});
