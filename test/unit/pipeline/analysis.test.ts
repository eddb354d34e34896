import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Config, ConfigKey } from '../../../src/config/config.ts';
import type { Finding } from '../../../src/config/finding.ts';
import { Graph, type Input } from '../../../src/derive/graph.ts';
import { DEFAULT_MESH_OPTIONS } from '../../../src/pipeline/options.ts';
import { createPipeline } from '../../../src/pipeline/pipeline.ts';
import { type MeshFixture, meshFixture, object } from '../../support/mesh-fixture.ts';
import { runs } from '../../support/runs.ts';

type Spec = Readonly<Record<string, unknown>>;

const service = (name: string, more: Spec = {}, namespace = 'shop'): Config =>
  object(
    'ServiceEntry',
    name,
    { hosts: [`${name}.mesh`], ports: [{ number: 80, name: 'http', protocol: 'HTTP' }], ...more },
    namespace,
  );
const routes = (name: string, destination: Spec, more: Spec = {}, namespace = 'shop'): Config =>
  object('VirtualService', name, { hosts: [`${name}.test`], http: [{ route: [{ destination }] }], ...more }, namespace);
const rule = (name: string, subsets: readonly string[], more: Spec = {}): Config =>
  object(
    'DestinationRule',
    name,
    { host: `${name}.mesh`, subsets: subsets.map((s) => ({ name: s })), ...more },
    'shop',
  );
const sidecar = (name: string, spec: Spec): Config => object('Sidecar', name, spec, 'shop');

const gateway = (name: string, host: string, credentialName: string, selector: Spec = {}): Config =>
  object(
    'Gateway',
    name,
    {
      selector,
      servers: [
        { port: { number: 443, name: 'x', protocol: 'HTTPS' }, hosts: [host], tls: { mode: 'SIMPLE', credentialName } },
      ],
    },
    'shop',
  );
const patched = (name: string, proxyVersion = ''): Config =>
  object(
    'EnvoyFilter',
    name,
    {
      configPatches: [
        {
          applyTo: 'HTTP_FILTER',
          match: { proxy: { proxyVersion } },
          patch: { operation: 'INSERT_BEFORE', value: { name: 'lua' } },
        },
      ],
    },
    'shop',
  );
const CLAIMS: Spec = {
  match: [{ headers: { '@request.auth.claims.group': { exact: 'a' } } }],
  route: [{ destination: { host: 'b.mesh' } }],
};
const SNI: Spec = { match: [{ sniHosts: ['r.test'] }], route: [{ destination: { host: 'a.mesh' } }] };
const telemetry = (name: string, spec: Spec): Config => object('Telemetry', name, spec, 'shop');

/** All findings by object, kept up to date by watches. */
function watched({
  graph,
  pipeline: { analysis },
}: Pick<MeshFixture, 'graph' | 'pipeline'>): () => ReadonlyMap<string, readonly Finding[]> {
  const watches = analysis.kinds.map((kind) => graph.watch(analysis.findings, kind));
  return () => new Map(watches.flatMap(({ value }) => [...value.entries()]));
}

const POOL: readonly (readonly Config[])[] = [
  [
    service('a'),
    service('a', { exportTo: ['.'] }),
    service('a', { ports: [{ number: 81, name: 'x', protocol: 'TCP' }] }),
  ],
  [service('b', {}, 'edge'), service('b', { hosts: ['*.mesh'] }, 'edge')],
  [service('db', { ports: [{ number: 90, name: 'x', protocol: 'TCP' }], addresses: ['10.0.0.0/8'] })],
  [
    service('db2', { ports: [{ number: 90, name: 'x', protocol: 'TCP' }], addresses: ['10.1.0.0/16', '10.1.1.1'] }),
    service('db2', { ports: [{ number: 90, name: 'x', protocol: 'TCP' }] }),
  ],
  [
    routes('r', { host: 'a.mesh', subset: 'v1' }),
    routes('r', { host: 'a.mesh', port: { number: 81 } }, { gateways: ['gw'] }),
    routes('r', { host: 'b.mesh' }, { hosts: [] }),
  ],
  [
    routes('s', { host: 'a.mesh' }, { hosts: ['r.test'], gateways: ['mesh', 'gw'] }),
    routes('s', { host: 'c.mesh' }, { hosts: ['*.test'], exportTo: ['.'] }),
    object('VirtualService', 's', { hosts: ['s.test'], http: [{ delegate: { name: 'r' } }] }, 'shop'),
  ],
  [routes('r', { host: 'a.mesh' }, { hosts: ['r.test'] }, 'edge')],
  [rule('a', ['v1', 'v2']), rule('a', [], { trafficPolicy: {} })],
  [{ ...rule('a', ['v1'], { trafficPolicy: {} }), name: 'z', key: 'networking.istio.io/DestinationRule/shop/z' }],
  [object('DestinationRule', 'wide', { host: '*.mesh', subsets: [{ name: 'v1' }] }, 'edge')],
  [gateway('gw', 'r.test', 'one'), gateway('gw', '*.test', 'two', { app: 'gw' })],
  [gateway('gw2', 'q.test', 'one', { app: 'gw' })],
  [patched('before', '1.*'), patched('before'), object('EnvoyFilter', 'before', { priority: 1 }, 'shop')],
  [patched('later')],
  [
    object('PeerAuthentication', 'default', { mtls: { mode: 'STRICT' } }, 'shop'),
    object('PeerAuthentication', 'default', { mtls: { mode: 'DISABLE' } }, 'shop'),
  ],
  [service('in', { location: 'MESH_INTERNAL', workloadSelector: { labels: { app: 'y' } } })],
  [
    rule('in', ['v1'], { trafficPolicy: { tls: { mode: 'DISABLE' } } }),
    object('DestinationRule', 'in', { host: 'in.mesh', subsets: [{ name: 'z', labels: { tier: 'z' } }] }, 'shop'),
  ],
  [object('RequestAuthentication', 'jwt', { selector: { matchLabels: { app: 'gw' } } }, 'shop')],
  [
    routes('claims', { host: 'a.mesh' }, { gateways: ['gw'], hosts: ['r.test'], http: [CLAIMS] }),
    object('VirtualService', 'claims', { gateways: ['gw', 'gw2'], hosts: ['r.test'], tls: [SNI] }, 'shop'),
  ],
  [object('VirtualService', 'sni', { gateways: ['gw'], hosts: ['*.test'], tls: [SNI] }, 'shop')],
  [telemetry('t', {}), telemetry('t', { selector: { matchLabels: { app: 'y' } } })],
  [telemetry('u', { accessLogging: [{}] }), telemetry('u', { selector: { matchLabels: { tier: 'z' } } })],
  [
    service(
      'b',
      { hosts: ['a.mesh'], ports: [{ number: 80, name: 'x', protocol: 'TLS' }], exportTo: ['shop'] },
      'edge2',
    ),
  ],
  [sidecar('x', { egress: [{ hosts: ['edge/*', './a.mesh', '*/*.test'] }] })],
  [sidecar('y', { workloadSelector: { labels: { app: 'y' } } }), sidecar('y', {})],
  [sidecar('z', { workloadSelector: { labels: { tier: 'z' } } })],
  [
    object('WorkloadEntry', 'w', { address: '10.0.0.1', labels: { app: 'y', tier: 'z' } }, 'shop'),
    object('WorkloadEntry', 'w', { address: '10.0.0.1', labels: { app: 'w' } }, 'shop'),
  ],
  [object('PeerAuthentication', 'p', { selector: { matchLabels: { app: 'y', tier: 'z' } } }, 'shop')],
  [
    object('MeshConfig', '', { extensionProviders: [{ name: 'z', zipkin: { service: 'a.mesh', port: 80 } }] }),
    object('MeshConfig', '', { defaultServiceExportTo: ['.'], defaultVirtualServiceExportTo: ['.'] }),
    object('MeshConfig', '', { rootNamespace: 'shop', defaultProviders: { accessLogging: ['envoy'] } }),
  ],
];

test('after any edits the findings are those of a mesh that always was as it is now', () => {
  const edit = fc
    .nat(POOL.length - 1)
    .chain((i) => fc.tuple(fc.constant(i), fc.integer({ min: -1, max: (POOL[i]?.length ?? 1) - 1 })));
  fc.assert(
    fc.property(
      fc.array(fc.array(edit, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 12 }),
      (batches) => {
        const fixture = meshFixture([]);
        const findings = watched(fixture);
        const present = new Map<number, Config>();
        for (const batch of batches) {
          fixture.graph.batch(() => {
            for (const [i, variant] of batch) {
              const config = POOL[i]?.[variant];
              const known = present.get(i) ?? POOL[i]?.[0];
              if (config === undefined && known !== undefined) fixture.remove(known);
              if (config === undefined) present.delete(i);
              else {
                fixture.edit(config);
                present.set(i, config);
              }
            }
          });
          assert.deepEqual(findings(), watched(meshFixture([...present.values()]))());
        }
      },
    ),
    { numRuns: runs(60) },
  );
});

/** A mesh with all findings watched, and the objects that are looked at. */
function started(configs: readonly Config[]) {
  const analysed: string[] = [];
  const graph = new Graph({
    onCompute: (name, key) => void (name === 'findings' && analysed.push(String(key).split('/').slice(1).join('/'))),
  });
  const input: Input<ConfigKey, Config> = graph.input('config');
  const set = (list: readonly Config[], present: boolean): void =>
    graph.batch(() => {
      for (const config of list) input.set(config.key, present ? config : undefined);
    });
  const pipeline = createPipeline(graph, input, DEFAULT_MESH_OPTIONS);
  set(configs, true);
  const findings = watched({ graph, pipeline });
  analysed.length = 0;
  const cost = (edit: () => void): readonly string[] => {
    edit();
    return analysed.splice(0).sort();
  };
  return {
    findings,
    edited: (...list: readonly Config[]) => cost(() => set(list, true)),
    removed: (...list: readonly Config[]) => cost(() => set(list, false)),
  };
}

const MANY: readonly Config[] = Array.from({ length: 20 }, (_, i) => [
  service(`s${i}`),
  routes(`r${i}`, { host: `s${i}.mesh`, subset: 'v1' }),
  rule(`s${i}`, ['v1']),
]).flat();

test('an edit looks anew only at objects that it concerns', () => {
  const { edited, removed, findings } = started(MANY);
  assert.equal(findings().size, 0);
  const moved = service('s3', { endpoints: [{ address: '10.0.0.9' }] });
  assert.deepEqual(edited(moved), ['ServiceEntry/shop/s3']);
  assert.deepEqual(edited(rule('s3', ['v1'], { trafficPolicy: {} })), ['DestinationRule/shop/s3']);
  assert.deepEqual(edited(rule('s3', ['v2'])), ['DestinationRule/shop/s3', 'VirtualService/shop/r3']);
  assert.deepEqual([...findings().keys()], ['networking.istio.io/VirtualService/shop/r3']);
  assert.deepEqual(edited(service('new')), ['ServiceEntry/shop/new']);
  assert.deepEqual(removed(service('s4')), ['DestinationRule/shop/s4', 'VirtualService/shop/r4']);
});

test('a selector that no object answers is answered by a proxy that connects', () => {
  const policy = object('PeerAuthentication', 'p', { selector: { matchLabels: { app: 'web' } } }, 'shop');
  const fixture = meshFixture([policy]);
  const findings = watched(fixture);
  assert.equal(findings().size, 1);
  fixture.connect('other', { namespace: 'edge', labels: { app: 'web' } });
  assert.equal(findings().size, 1);
  fixture.connect('web', { namespace: 'shop', labels: { app: 'web' } });
  assert.equal(findings().size, 0);
});
