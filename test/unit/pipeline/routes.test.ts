import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { envoy } from '#generated/proto/types.ts';
import { type Config, type ConfigKey, configKey } from '../../../src/config/config.ts';
import { Graph } from '../../../src/derive/graph.ts';
import { proxyOfNode } from '../../../src/model/node.ts';
import { DEFAULT_MESH_OPTIONS } from '../../../src/pipeline/options.ts';
import { createPipeline } from '../../../src/pipeline/pipeline.ts';
import { decodeMessage } from '../../../src/proto/decode.ts';
import { ROUTE_TYPE } from '../../../src/proto/type-urls.ts';
import { object } from '../../support/mesh-fixture.ts';

type RouteConfiguration = envoy.config.route.v3.RouteConfiguration;
type Spec = Readonly<Record<string, unknown>>;

const service = (name: string, ports: Readonly<Record<number, string>> = { 80: 'HTTP' }, more: Spec = {}) =>
  object('ServiceEntry', name, {
    hosts: [`${name}.example.com`],
    location: 'MESH_INTERNAL',
    resolution: 'STATIC',
    ports: Object.entries(ports).map(([number, protocol]) => ({
      number: Number(number),
      name: `p${number}`,
      protocol,
    })),
    endpoints: [{ address: '10.0.0.1' }],
    ...more,
  });
const weighted = (name: string, weight: number) =>
  object('VirtualService', name, {
    hosts: [`${name}.example.com`],
    http: [
      {
        route: [
          { destination: { host: `${name}.example.com` }, weight },
          { destination: { host: 'other.example.com' }, weight: 100 - weight },
        ],
      },
    ],
  });
const sourced = (name: string, sourceLabels: Spec) =>
  object('VirtualService', name, {
    hosts: [`${name}.example.com`],
    http: [{ match: [{ sourceLabels }], route: [{ destination: { host: 'other.example.com' } }] }],
  });
const mesh = (spec: Spec) => object('MeshConfig', 'mesh', spec);

const TRANSLATIONS: ReadonlySet<string> = new Set(['virtualHost', 'virtualServiceRoutes', 'routePlan']);

interface Client {
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly metadata?: Spec;
}

function started(configs: readonly Config[], clients: readonly Client[] = [{}]) {
  const ran: string[] = [];
  const graph = new Graph({ paranoid: true, onCompute: (name) => void (TRANSLATIONS.has(name) && ran.push(name)) });
  const input = graph.input<ConfigKey, Config>('config');
  graph.batch(() => {
    for (const config of configs) input.set(config.key, config);
  });
  const pipeline = createPipeline(graph, input, DEFAULT_MESH_OPTIONS);
  const routes = pipeline.resources.get(ROUTE_TYPE);
  assert.ok(routes);
  const watches = clients.map(({ namespace = 'default', labels = {}, metadata = {} }, i) => {
    const proxy = proxyOfNode({
      id: `sidecar~10.1.0.${i}~app.${namespace}~${namespace}.svc.cluster.local`,
      metadata: { NAMESPACE: namespace, LABELS: labels, CLUSTER_ID: 'Kubernetes', ...metadata } as never,
      extensions: [],
    });
    assert.ok('nodeId' in proxy);
    graph.batch(() => pipeline.mesh.proxies.set(proxy.nodeId, proxy));
    const scope = pipeline.mesh.scopeOf.get(proxy.nodeId);
    assert.ok(scope);
    return graph.watch(routes, scope);
  });
  const revisions = watches.map(({ value }) => value.revision);
  ran.length = 0;
  return {
    names: (client = 0) => [...(watches[client]?.value.entries() ?? [])].map(([name]) => name),
    route: (name: string, client = 0): RouteConfiguration => {
      const resource = watches[client]?.value.get(name);
      assert.ok(resource, `${name} is served`);
      return decodeMessage('envoy.config.route.v3.RouteConfiguration', resource.bytes);
    },
    resource: (name: string, client = 0) => watches[client]?.value.get(name),
    /** @returns the resources that changed for each client, and what ran to make them */
    edit: (...changed: readonly Config[]) => {
      graph.batch(() => {
        for (const config of changed) input.set(config.key, config);
      });
      const sent = watches.map(({ value }, i) => {
        const changes = value.changesSince(revisions[i] ?? 0);
        assert.ok(changes);
        revisions[i] = value.revision;
        return [...changes.changed.keys(), ...changes.removed.map((name) => `-${name}`)];
      });
      return { sent, ran: ran.splice(0).sort() };
    },
  };
}

const hosts = ({ virtualHosts = [] }: RouteConfiguration) => virtualHosts.map(({ name }) => name);

test('a changed weight translates one virtual host for all namespaces, and makes no plan again', () => {
  const many = Array.from({ length: 20 }, (_, i) => service(`s${i}`));
  const mesh = started([...many, service('other'), weighted('s3', 10)], [{}, { namespace: 'a' }, { namespace: 'b' }]);
  const before = mesh.resource('80');
  const { sent, ran } = mesh.edit(weighted('s3', 20));
  assert.deepEqual(sent, [['80'], ['80'], ['80']]);
  assert.deepEqual(ran, ['virtualHost', 'virtualServiceRoutes']);
  assert.notEqual(mesh.resource('80')?.version, before?.version);
  assert.equal(mesh.edit(weighted('s3', 10)).ran.length, 2);
  assert.equal(mesh.resource('80')?.version, before?.version);
});

test('clients of different namespaces share virtual hosts whose names are the same for them', () => {
  const { edit } = started([service('a'), service('b')], [{}, { namespace: 'x' }, { namespace: 'y' }]);
  const { sent, ran } = edit(service('c'));
  assert.deepEqual(sent, [['80'], ['80'], ['80']]);
  assert.deepEqual(ran, ['routePlan', 'routePlan', 'routePlan', 'virtualHost']);
});

test('a new service is planned only on the ports that it has', () => {
  const { edit } = started([service('a'), service('b', { 81: 'HTTP' }), service('c', { 82: 'HTTP' })]);
  const { sent, ran } = edit(service('d', { 81: 'HTTP' }));
  assert.deepEqual(sent, [['81']]);
  assert.deepEqual(ran, ['routePlan', 'virtualHost']);
});

test('endpoints change no route', () => {
  const { edit } = started([service('a'), service('b')]);
  const moved = service('a', undefined, { endpoints: [{ address: '10.0.0.9' }, { address: '10.0.0.10' }] });
  assert.deepEqual(edit(moved), { sent: [[]], ran: [] });
});

test('labels tell clients apart only where a route asks for them', () => {
  const clients = [{ labels: { app: 'a' } }, { labels: { app: 'b' } }, { labels: { app: 'c', other: 'x' } }];
  const { edit, route, resource } = started([service('a'), service('other')], clients);
  assert.equal(resource('80', 0), resource('80', 1));
  const { sent } = edit(sourced('a', { app: 'b' }));
  assert.deepEqual(sent, [[], ['80'], []]);
  const clusterFor = (client: number) => route('80', client).virtualHosts?.[0]?.routes?.[0]?.route?.cluster;
  assert.equal(clusterFor(0), 'outbound|80||a.example.com');
  assert.equal(clusterFor(1), 'outbound|80||other.example.com');
  assert.equal(resource('80', 0)?.version, resource('80', 2)?.version);
});

test('only a consistent hash of a DestinationRule reaches the routes, where its workload selector lets it', () => {
  const rule = (trafficPolicy: Spec) =>
    object('DestinationRule', 'a', {
      host: 'a.example.com',
      workloadSelector: { matchLabels: { app: 'hashing' } },
      trafficPolicy,
    });
  const { edit, route } = started([service('a'), service('b')], [{ labels: { app: 'hashing' } }, {}]);
  assert.deepEqual(edit(rule({ outlierDetection: { consecutive5xxErrors: 3 } })).ran, []);
  const hashing = edit(rule({ loadBalancer: { consistentHash: { httpHeaderName: 'x-user' } } }));
  assert.deepEqual(hashing.sent, [['80'], []]);
  const [first] = route('80').virtualHosts ?? [];
  assert.deepEqual(first?.routes?.[0]?.route?.hashPolicy, [{ header: { headerName: 'x-user' } }]);
});

test('the mesh default for retries translates every virtual host once, whatever the number of clients', () => {
  const { edit } = started([service('a'), service('b')], [{}, { namespace: 'x' }]);
  const { sent, ran } = edit(mesh({ defaultHttpRetryPolicy: { attempts: 5 } }));
  assert.deepEqual(sent, [['80'], ['80']]);
  assert.deepEqual(ran, ['virtualHost', 'virtualHost']);
});

test('a service of unknown protocol with an address has a configuration of its own, for whatever host is asked', () => {
  const auto = service('auto', { 9000: '' }, { addresses: ['10.9.9.9'] });
  const { names, route } = started([auto, service('a')]);
  assert.deepEqual(names(), ['80', 'auto.example.com:9000']);
  const { virtualHosts } = route('auto.example.com:9000');
  assert.deepEqual(
    virtualHosts?.map(({ name, domains }) => [name, domains]),
    [['auto.example.com:9000', ['*']]],
  );
});

test('a Sidecar decides over which services a port of its own routes, and what becomes of unknown hosts', () => {
  const sidecar = object('Sidecar', 'default', {
    outboundTrafficPolicy: { mode: 'REGISTRY_ONLY' },
    egress: [
      { port: { number: 80, protocol: 'HTTP', name: 'http' }, hosts: ['./a.example.com'] },
      { port: { number: 3128, protocol: 'HTTP_PROXY', name: 'proxy' }, hosts: ['./b.example.com'] },
      { hosts: ['./*'] },
    ],
  });
  const { route } = started([service('a'), service('b', { 80: 'HTTP', 81: 'HTTP' }), sidecar]);
  assert.deepEqual(hosts(route('80')), ['a.example.com:80', 'block_all']);
  assert.deepEqual(hosts(route('81')), ['b.example.com:81', 'block_all']);
  assert.deepEqual(hosts(route('3128')), ['b.example.com:80', 'b.example.com:81', 'block_all']);
});

test('where an egress listener is bound, and whether connections are led there, names its routes anew', () => {
  const sidecar = (more: Spec) => object('Sidecar', 'default', { egress: [{ hosts: ['./*'], ...more }] });
  const { names, edit } = started([service('a', { 81: '' }), sidecar({})]);
  assert.deepEqual(names(), ['81']);
  for (const more of [{ captureMode: 'NONE' }, { bind: '127.0.0.9' }]) {
    edit(sidecar(more));
    assert.deepEqual(names(), ['a.example.com:81']);
    edit(sidecar({}));
    assert.deepEqual(names(), ['81']);
  }
});

test('a proxy with a port for all hosts routes there over every port of every service', () => {
  const { route } = started([service('a', { 80: 'HTTP', 81: 'HTTP' })], [{ metadata: { HTTP_PROXY_PORT: '15007' } }]);
  assert.deepEqual(
    route('http_proxy').virtualHosts?.map(({ name, domains }) => [name, domains]),
    [
      ['a.example.com:80', ['a.example.com', 'a.example.com:80', 'a.example.com.', 'a.example.com.:80']],
      ['a.example.com:81', ['a.example.com:81', 'a.example.com.:81']],
      ['allow_any', ['*']],
    ],
  );
});

test('of two VirtualServices for one host the older has it', () => {
  const older = {
    ...weighted('a', 10),
    name: 'older',
    key: configKey('networking.istio.io', 'VirtualService', 'default', 'older'),
    creationTime: 1,
  };
  const { route, edit } = started([service('a'), service('other'), { ...weighted('a', 90), creationTime: 2 }]);
  const weightOfFirst = () =>
    route('80').virtualHosts?.[0]?.routes?.[0]?.route?.weightedClusters?.clusters?.[0]?.weight;
  assert.equal(weightOfFirst(), 90);
  edit(older);
  assert.equal(weightOfFirst(), 10);
});

test('a VirtualService without HTTP routes takes its host from a wildcard', () => {
  const wildcard = object('VirtualService', 'wide', {
    hosts: ['*.example.com'],
    http: [{ route: [{ destination: { host: 'other.example.com' } }] }],
  });
  const tcpOnly = object('VirtualService', 'narrow', {
    hosts: ['a.example.com'],
    tcp: [{ route: [{ destination: { host: 'other.example.com' } }] }],
  });
  const { route, edit } = started([service('a'), service('other'), wildcard]);
  const cluster = () => route('80').virtualHosts?.[0]?.routes?.[0]?.route?.cluster;
  assert.equal(cluster(), 'outbound|80||other.example.com');
  edit(tcpOnly);
  assert.equal(cluster(), 'outbound|80||a.example.com');
});
