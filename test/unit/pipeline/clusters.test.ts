import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Config } from '../../../src/config/config.ts';
import { DEFAULT_MESH_OPTIONS } from '../../../src/pipeline/options.ts';
import { CLUSTER_TYPE, ENDPOINT_TYPE } from '../../../src/proto/type-urls.ts';
import { type Client, meshFixture, object } from '../../support/mesh-fixture.ts';
import { runs } from '../../support/runs.ts';

type Spec = Readonly<Record<string, unknown>>;

const TRANSLATIONS = ['cluster', 'loadAssignment', 'ownCluster', 'outboundPlan'];
const ITEMS = ['clusters', 'loadAssignments'];

const service = (name: string, more: Spec = {}, namespace = 'default'): Config =>
  object(
    'ServiceEntry',
    name,
    {
      hosts: [`${name}.example.com`],
      location: 'MESH_INTERNAL',
      resolution: 'STATIC',
      ports: [{ number: 80, name: 'http', protocol: 'HTTP' }],
      endpoints: [{ address: '10.0.0.1', labels: { version: 'v1', 'security.istio.io/tlsMode': 'istio' } }],
      ...more,
    },
    namespace,
  );
const rule = (name: string, spec: Spec, namespace = 'default'): Config =>
  object('DestinationRule', name, { host: `${name}.example.com`, ...spec }, namespace);
const mesh = (spec: Spec): Config => object('MeshConfig', '', spec);
const moved = (name: string, address: string): Config => service(name, { endpoints: [{ address }] });

const WEB = 'outbound|80||web.example.com';

function started(
  configs: readonly Config[],
  clients: Readonly<Record<string, Client>> = { one: {} },
  counted: readonly string[] = TRANSLATIONS,
) {
  const fixture = meshFixture(configs, counted);
  for (const [name, client] of Object.entries(clients)) fixture.connect(name, client);
  const watches = Object.keys(clients).flatMap((name) => {
    const scope = fixture.pipeline.mesh.scopeOf.get(name);
    assert(scope);
    return [CLUSTER_TYPE, ENDPOINT_TYPE].map((type) => {
      const collection = fixture.pipeline.resources.get(type);
      assert(collection);
      const watch = fixture.graph.watch(collection, scope, () => pushed.push(`${name} ${type.split('.').at(-1)}`));
      return { name, type, watch };
    });
  });
  const pushed: string[] = [];
  fixture.ran();
  return { ...fixture, watches, pushed };
}

test('moving an endpoint of a static service translates its load assignment and no cluster', () => {
  const { edit, ran, pushed } = started([service('web'), service('other')]);
  edit(moved('web', '10.0.0.2'));
  assert.deepEqual(ran(), ['loadAssignment']);
  assert.deepEqual(pushed, ['one ClusterLoadAssignment']);
});

test('moving an endpoint of a service that is looked up by name translates its cluster', () => {
  const dns = (address: string) => service('web', { resolution: 'DNS', endpoints: [{ address }] });
  const { edit, ran, pushed } = started([dns('a.example.com'), service('other')]);
  edit(dns('b.example.com'));
  assert.deepEqual(ran(), ['cluster']);
  assert.deepEqual(pushed, ['one Cluster']);
});

test('namespaces that see the same share every cluster, every load assignment and the plan of them', () => {
  const clients = { a: { namespace: 'a' }, b: { namespace: 'b' }, c: { namespace: 'c', labels: { app: 'c' } } };
  const { edit, ran } = started(
    [service('web'), service('other'), rule('web', { subsets: [{ name: 'v1' }] })],
    clients,
  );
  edit(mesh({ connectTimeout: '3s' }));
  assert.deepEqual([...ran()].sort(), ['cluster', 'cluster', 'cluster', 'ownCluster', 'ownCluster', 'ownCluster']);
  edit(service('third'));
  assert.deepEqual([...ran()].sort(), ['cluster', 'loadAssignment', 'outboundPlan']);
});

test('a service that comes or goes is one more or less in each set, of which nothing else is looked at', () => {
  const services = Array.from({ length: 20 }, (_, i) => service(`s${i}`));
  const clients = { a: { namespace: 'a' }, b: { namespace: 'b' }, c: { type: 'router' } } as const;
  const { edit, remove, ran } = started(services, clients, ITEMS);
  edit(service('third'));
  // One set for sidecars, one for gateways.
  assert.deepEqual([...ran()].sort(), [...ITEMS, ...ITEMS].sort());
  remove(service('third'));
  assert.deepEqual(ran(), []);
});

test('a rule of one namespace shapes the clusters of that namespace only', () => {
  const private_ = rule('web', { trafficPolicy: { loadBalancer: { simple: 'RANDOM' } }, exportTo: ['.'] }, 'a');
  const { resources } = started([service('web'), private_], { a: { namespace: 'a' }, b: { namespace: 'b' } });
  assert.equal(resources('a', CLUSTER_TYPE).get(WEB)?.['lbPolicy'], 'RANDOM');
  assert.equal(resources('b', CLUSTER_TYPE).get(WEB)?.['lbPolicy'], 'LEAST_REQUEST');
});

test('a rule with a workload selector holds for the workloads that it selects', () => {
  const chosen = rule('web', {
    workloadSelector: { matchLabels: { app: 'a' } },
    trafficPolicy: { loadBalancer: { simple: 'RANDOM' } },
  });
  const { resources } = started([service('web'), chosen], { a: { labels: { app: 'a' } }, b: { labels: { app: 'b' } } });
  assert.equal(resources('a', CLUSTER_TYPE).get(WEB)?.['lbPolicy'], 'RANDOM');
  assert.equal(resources('b', CLUSTER_TYPE).get(WEB)?.['lbPolicy'], 'LEAST_REQUEST');
});

test('proxies of several localities share load assignments until a rule makes localities count', () => {
  const clients = { east: { locality: { region: 'east' } }, west: { locality: { region: 'west' } } };
  const endpoints = [
    { address: '10.0.0.1', locality: 'east' },
    { address: '10.0.0.2', locality: 'west' },
  ];
  const { edit, ran, resources } = started([service('web', { endpoints })], clients);
  const before = resources('east', ENDPOINT_TYPE).get(WEB);
  assert.deepEqual(before, resources('west', ENDPOINT_TYPE).get(WEB));
  edit(rule('web', { trafficPolicy: { outlierDetection: { consecutive5xxErrors: 1 } } }));
  // For each of them, and for the set that they had in common: it is compared with what they have now.
  assert.deepEqual(ran().filter((name) => name === 'loadAssignment').length, 3);
  const priorities = (client: string) => {
    const groups = resources(client, ENDPOINT_TYPE).get(WEB)?.['endpoints'] ?? [];
    return (groups as readonly { readonly priority?: number }[]).map(({ priority = 0 }) => priority);
  };
  assert.deepEqual(priorities('east'), [0, 1]);
  assert.deepEqual(priorities('west'), [1, 0]);
});

test('an endpoint whose node cannot have a certificate is spoken to in plaintext for as long as it is connected', () => {
  const { graph, pipeline, connect, resources } = started([service('web')]);
  const tlsMode = () => JSON.stringify(resources('one', ENDPOINT_TYPE).get(WEB)).includes('"tlsMode":"istio"');
  assert(tlsMode());
  connect('server', { ip: '10.0.0.1', dataplane: 'bare' });
  assert(!tlsMode());
  graph.batch(() => pipeline.mesh.proxies.set('server', undefined));
  assert(tlsMode());
});

test('an Envoy without a certificate is told of no TLS and of no filter that it lacks', () => {
  const { resources } = started([service('web')], { one: { dataplane: 'bare' } });
  const cluster = resources('one', CLUSTER_TYPE).get(WEB);
  assert(cluster);
  assert.deepEqual(
    Object.keys(cluster).filter((key) => /^(transportSocket|filters)/.test(key)),
    [],
  );
});

/** Edits in which services, subsets and namespaces come and go. */
const edits = fc.array(
  fc.record({
    name: fc.constantFrom('web', 'other', 'third'),
    what: fc.oneof(
      fc.constantFrom('gone', 'ruled', 'unruled', 'hidden', 'dns'),
      fc.nat(3).map((host) => `10.0.0.${host + 1}`),
    ),
  }),
  { minLength: 1, maxLength: 20 },
);

test('the changes of a set, applied one after the other, give the set', () => {
  fc.assert(
    fc.property(edits, (steps) => {
      const { edit, remove, watches } = started([service('web')], { a: { namespace: 'a' }, b: { namespace: 'b' } });
      const held = watches.map(({ watch }) => ({
        watch,
        revision: watch.value.revision,
        content: new Map([...watch.value.entries()].map(([name, { version }]) => [name, version])),
      }));
      for (const { name, what } of steps) {
        if (what === 'gone') remove(service(name));
        else if (what === 'ruled') edit(rule(name, { subsets: [{ name: 'v1', labels: { version: 'v1' } }] }));
        else if (what === 'unruled') remove(rule(name, {}));
        else if (what === 'hidden') edit(service(name, { exportTo: ['a'] }));
        else if (what === 'dns') edit(service(name, { resolution: 'DNS' }));
        else edit(moved(name, what));
        for (const client of held) {
          const view = client.watch.value;
          const changes = view.changesSince(client.revision);
          assert(changes, 'a reader of the last revision is told what has changed');
          for (const [key, { version }] of changes.changed) client.content.set(key, version);
          for (const key of changes.removed) client.content.delete(key);
          client.revision = view.revision;
          const now = [...view.entries()].map(([key, { version }]) => [key, version]);
          assert.deepEqual([...client.content].sort(), now.sort());
          assert.equal(view.size, now.length);
        }
      }
    }),
    { numRuns: runs(25) },
  );
});

test('a Sidecar whose listeners stand beside those of services has clusters for both', () => {
  const sidecar = object('Sidecar', 'own', {
    ingress: [{ port: { number: 8080, protocol: 'HTTP', name: 'own' }, defaultEndpoint: '127.0.0.1:1' }],
  });
  const web = object('Service', 'web', {
    selector: { app: 'web' },
    ports: [
      { name: 'http', port: 80, targetPort: 8080 },
      { name: 'tcp', port: 90, targetPort: 9090 },
    ],
  });
  const inbound = (mergesServicePorts: boolean) => {
    const listeners = { ...DEFAULT_MESH_OPTIONS.listeners, mergesServicePorts };
    const { connect, resources } = meshFixture([sidecar, web], [], { listeners });
    connect('web', { labels: { app: 'web' } });
    return [...resources('web', CLUSTER_TYPE).keys()].filter((name) => name.startsWith('inbound|'));
  };
  assert.deepEqual(inbound(false), ['inbound|8080||']);
  assert.deepEqual(inbound(true).sort(), ['inbound|8080||', 'inbound|9090||']);
});

test('ServiceEntries of one host are one service only where they are exported alike', () => {
  const named = (name: string, port: number, exportTo?: readonly string[]) => ({
    ...service(name, {
      hosts: ['web.example.com'],
      ports: [{ number: port, name: 'http', protocol: 'HTTP' }],
      exportTo,
    }),
    creationTime: port,
  });
  const clusters = (...entries: Parameters<typeof meshFixture>[0]) => {
    const { connect, resources } = meshFixture(entries);
    connect('client');
    return [...resources('client', CLUSTER_TYPE).keys()].filter((name) => name.endsWith('web.example.com')).sort();
  };
  const both = ['outbound|80||web.example.com', 'outbound|81||web.example.com'];
  assert.deepEqual(clusters(named('a', 80), named('b', 81)), both);
  assert.deepEqual(clusters(named('a', 80, ['.', 'x']), named('b', 81, ['x', '.'])), both);
  assert.deepEqual(clusters(named('a', 80), named('b', 81, ['*'])), ['outbound|80||web.example.com']);
});

test('of several objects with one host the newest says what its servers are called', () => {
  const named = (name: string, creationTime: number) => ({
    ...service(name, {
      hosts: ['web.example.com'],
      subjectAltNames: [`spiffe://${name}`],
      endpoints: [{ address: '10.0.0.1', labels: { 'security.istio.io/tlsMode': 'istio' } }],
    }),
    creationTime,
  });
  const { connect, resources } = meshFixture([named('new', 2), named('old', 1)]);
  connect('client');
  const cluster = JSON.stringify(resources('client', CLUSTER_TYPE).get('outbound|80||web.example.com'));
  assert.match(cluster, /spiffe:\/\/new/);
  assert.doesNotMatch(cluster, /spiffe:\/\/old/);
});
