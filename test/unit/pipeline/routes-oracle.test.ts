import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Config, type ConfigKey, configKey } from '../../../src/config/config.ts';
import { Graph, type Input } from '../../../src/derive/graph.ts';
import { proxyOfNode } from '../../../src/model/node.ts';
import { DEFAULT_MESH_OPTIONS } from '../../../src/pipeline/options.ts';
import { createPipeline, type Pipeline } from '../../../src/pipeline/pipeline.ts';
import { ROUTE_TYPE } from '../../../src/proto/type-urls.ts';
import { object } from '../../support/mesh-fixture.ts';
import { runs } from '../../support/runs.ts';

type Spec = Readonly<Record<string, unknown>>;

const NAMESPACES = ['a', 'b'] as const;
const HOSTS = ['x.com', 'y.com', 'z.com'] as const;

const namespace = fc.constantFrom(...NAMESPACES);
const name = fc.constantFrom('one', 'two');
const host = fc.constantFrom(...HOSTS);
const pattern = fc.constantFrom(...HOSTS, '*.com', 'unknown.com');
const labels = fc.constantFrom({ app: 'p' }, { app: 'q' }, { app: 'p', tier: 't' });

const serviceEntry = fc.record({
  hosts: fc.uniqueArray(host, { minLength: 1, maxLength: 2 }),
  addresses: fc.constantFrom([], ['10.0.0.1']),
  exportTo: fc.constantFrom(['*'], ['.']),
  location: fc.constant('MESH_INTERNAL'),
  resolution: fc.constant('STATIC'),
  ports: fc.uniqueArray(
    fc.record({
      number: fc.constantFrom(80, 81),
      protocol: fc.constantFrom('HTTP', 'TCP', ''),
      name: fc.constant('p'),
    }),
    { minLength: 1, selector: ({ number }) => number },
  ),
  endpoints: fc.constantFrom([{ address: '10.1.0.1' }], [{ address: '10.1.0.2' }]),
});
const httpRoute = fc.record(
  {
    match: fc.array(
      fc.record(
        {
          sourceLabels: labels,
          sourceNamespace: namespace,
          port: fc.constantFrom(80, 81),
          uri: fc.constant({ prefix: '/a' }),
        },
        { requiredKeys: [] },
      ),
      { maxLength: 2 },
    ),
    route: fc.array(
      fc.record({
        destination: fc.record({ host, subset: fc.constantFrom('', 'v1') }),
        weight: fc.constantFrom(10, 90),
      }),
      { minLength: 1, maxLength: 2 },
    ),
  },
  { requiredKeys: ['route'] },
);
const virtualService = fc.oneof(
  fc.record({
    hosts: fc.uniqueArray(pattern, { minLength: 1, maxLength: 2 }),
    http: fc.array(httpRoute, { minLength: 1, maxLength: 2 }),
    exportTo: fc.constantFrom(['*'], ['.']),
  }),
  fc.record({ hosts: fc.tuple(pattern), http: fc.constant([{ delegate: { name: 'two' } }]) }),
  fc.record({ http: fc.array(httpRoute, { minLength: 1, maxLength: 2 }) }),
  fc.record({ hosts: fc.tuple(pattern), tcp: fc.constant([{ route: [{ destination: { host: 'x.com' } }] }]) }),
);
const trafficPolicy = fc.constantFrom(
  { loadBalancer: { consistentHash: { httpHeaderName: 'h' } } },
  {
    loadBalancer: { simple: 'RANDOM' },
  },
);
const destinationRule = fc.record(
  {
    host: pattern,
    trafficPolicy,
    subsets: fc.tuple(fc.record({ name: fc.constant('v1'), trafficPolicy }, { requiredKeys: ['name'] })),
    workloadSelector: fc.record({ matchLabels: labels }),
  },
  { requiredKeys: ['host'] },
);
const sidecar = fc.record(
  {
    egress: fc.array(
      fc.record(
        {
          hosts: fc.constantFrom(['*/*'], ['./*'], ['a/x.com'], ['*/*.com', '~b/y.com']),
          port: fc.constantFrom(
            { number: 80, protocol: 'HTTP', name: 'h' },
            { number: 3128, protocol: 'HTTP_PROXY', name: 'p' },
          ),
        },
        { requiredKeys: ['hosts'] },
      ),
      { minLength: 1, maxLength: 2 },
    ),
    outboundTrafficPolicy: fc.constantFrom({ mode: 'REGISTRY_ONLY' }, { mode: 'ALLOW_ANY' }),
    workloadSelector: fc.record({ labels }),
  },
  { requiredKeys: ['egress'] },
);

const KINDS: Readonly<Record<string, fc.Arbitrary<Spec>>> = {
  ServiceEntry: serviceEntry,
  VirtualService: virtualService,
  DestinationRule: destinationRule,
  Sidecar: sidecar,
};

interface Edit {
  readonly key: ConfigKey;
  readonly config: Config | undefined;
}

const edit: fc.Arbitrary<Edit> = fc.constantFrom(...Object.keys(KINDS)).chain((kind) =>
  fc.tuple(namespace, name, fc.option(KINDS[kind] ?? fc.constant({}), { freq: 4 })).map(([ns, objectName, spec]) => ({
    key: configKey('networking.istio.io', kind, ns, objectName),
    config: spec === null ? undefined : object(kind, objectName, spec, ns),
  })),
);

interface Mesh {
  readonly graph: Graph;
  readonly input: Input<ConfigKey, Config>;
  readonly pipeline: Pipeline;
  readonly clients: readonly string[];
}

function started(configs: Iterable<Config>): Mesh {
  const graph = new Graph();
  const input = graph.input<ConfigKey, Config>('config');
  const pipeline = createPipeline(graph, input, DEFAULT_MESH_OPTIONS);
  const clients = NAMESPACES.flatMap((ns) => ['p', 'q'].map((app) => ({ ns, app })));
  graph.batch(() => {
    for (const config of configs) input.set(config.key, config);
    for (const { ns, app } of clients) {
      const proxy = proxyOfNode({
        id: `sidecar~10.2.0.1~${app}.${ns}~${ns}.svc.cluster.local`,
        metadata: { NAMESPACE: ns, LABELS: { app }, CLUSTER_ID: 'Kubernetes' },
        extensions: [],
      });
      assert.ok('nodeId' in proxy);
      pipeline.mesh.proxies.set(`${app}.${ns}`, proxy);
    }
  });
  return { graph, input, pipeline, clients: clients.map(({ ns, app }) => `${app}.${ns}`) };
}

/** Names and versions of what each client is sent. */
function served({ pipeline, clients }: Mesh): readonly (readonly (readonly [string, string])[])[] {
  return clients.map((client) => {
    const scope = pipeline.mesh.scopeOf.get(client);
    const set = scope && pipeline.resources.get(ROUTE_TYPE)?.get(scope);
    return [...(set?.entries() ?? [])].map(([resource, { version }]) => [resource, version] as const);
  });
}

test('after any edits the routes are those of a mesh that began with the same objects', () => {
  fc.assert(
    fc.property(fc.array(fc.array(edit, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 8 }), (batches) => {
      const live = started([]);
      const objects = new Map<ConfigKey, Config>();
      for (const batch of batches) {
        live.graph.batch(() => {
          for (const { key, config } of batch) {
            live.input.set(key, config);
            if (config === undefined) objects.delete(key);
            else objects.set(key, config);
          }
        });
        assert.deepEqual(served(live), served(started(objects.values())));
      }
    }),
    { numRuns: runs(60) },
  );
});
