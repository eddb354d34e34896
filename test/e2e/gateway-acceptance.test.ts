import assert from 'node:assert/strict';
import { basename } from 'node:path';
import { after, test } from 'node:test';
import fc from 'fast-check';
import type { JsonObject } from '../../src/base/json.ts';
import { CLUSTER_TYPE, LISTENER_TYPE, ROUTE_TYPE } from '../../src/proto/type-urls.ts';
import { caseDirectories } from '../parity/case-files.ts';
import { loadCase } from '../parity/load-case.ts';
import { connect, pipelineOf, resourcesOf } from '../parity/translate.ts';
import { type Client, meshFixture, object } from '../support/mesh-fixture.ts';
import { randomGatewayEdit } from '../support/random-gateways.ts';
import { envoyRefusals, type SentResources } from '../support/validate-envoy.ts';
import { WorkDir } from '../support/work-dir.ts';
import { CORPUS, withoutCorpus } from './conditions.ts';

/** Cases with routers that need no other kinds than Gateway and those that sidecars know. */
const CASES = /^(00[134]|046|049|056|07\d|08[01]|103|111|120|133|136|143|15\d|16\d|182)-/;

const files = new WorkDir('validate');
after(() => files[Symbol.dispose]());

function sent(resources: (typeUrl: string) => ReadonlyMap<string, JsonObject>): SentResources {
  return { clusters: resources(CLUSTER_TYPE), listeners: resources(LISTENER_TYPE), routes: resources(ROUTE_TYPE) };
}

const skip = withoutCorpus();
if (skip) test('an upstream Envoy accepts what the routers of the corpus are sent', { skip }, () => {});
else {
  for (const directory of caseDirectories(CORPUS)) {
    const name = basename(directory);
    if (!CASES.test(name)) continue;
    test(`an upstream Envoy accepts what the routers of ${name} are sent`, () => {
      const loaded = loadCase(directory);
      const pipeline = pipelineOf(loaded);
      for (const proxy of loaded.proxies.filter(({ type }) => type === 'router')) {
        const client = connect(pipeline, proxy, 'envoy');
        const refusals = envoyRefusals(
          sent((type) => resourcesOf(pipeline, client, type)),
          files,
        );
        assert.deepEqual(refusals, [], proxy.name);
      }
    });
  }
}

type Spec = Readonly<Record<string, unknown>>;
const server = (name: string, port: number, protocol: string, hosts: readonly string[], more: Spec = {}) => ({
  port: { name, number: port, protocol },
  hosts,
  ...more,
});
const pem = { serverCertificate: '/etc/a.pem', privateKey: '/etc/a.key' };
const tls = (mode: string, more: Spec = { credentialName: 'c' }) => ({ tls: { mode, ...more } });
const gateway = (name: string, servers: readonly Spec[]) =>
  object('Gateway', name, { selector: { app: 'gw' }, servers });
const to = (host: string, subset?: string) => ({ destination: { host, ...(subset && { subset }) }, weight: 50 });
const route = [to('web.local', 'v1'), to('web.local')];

/** Everything at odds with something else. */
const AT_ODDS = [
  gateway('one', [
    server('a', 80, 'HTTP', ['default/a.com', '*.b.com'], { tls: { httpsRedirect: true } }),
    server('b', 81, 'HTTP', ['*']),
    server('c', 443, 'HTTPS', ['a.com'], { name: 'named', ...tls('SIMPLE', pem) }),
    server('d', 443, 'HTTPS', ['m.com'], tls('MUTUAL', { credentialName: 'm', subjectAltNames: ['x.com'] })),
    server('e', 443, 'HTTPS', ['o.com', '*o.com'], tls('OPTIONAL_MUTUAL', { ...pem, caCertificates: '/etc/ca.pem' })),
    server('f', 443, 'HTTPS', ['i.com'], tls('ISTIO_MUTUAL', {})),
    server('g', 443, 'TLS', ['*.com'], tls('PASSTHROUGH', {})),
    server('h', 443, 'HTTPS', ['s.com'], tls('SIMPLE', { credentialName: 'c', subjectAltNames: ['x.com'] })),
    server('i', 9000, 'TCP', ['*']),
    server('j', 15443, 'TLS', ['*.local', 'web.local'], tls('AUTO_PASSTHROUGH', {})),
    server('k', 15443, 'TLS', ['x.local', 'web.*'], tls('AUTO_PASSTHROUGH', {})),
    server('l', 0, 'HTTP', ['*'], { bind: 'unix:///tmp/gateway.sock' }),
  ]),
  gateway('two', [
    server('a', 443, 'HTTPS', ['a.com', 'c.com'], tls('SIMPLE')),
    server('b', 443, 'HTTP', ['plain.com']),
    server('c', 80, 'TCP', ['*']),
    server('d', 80, 'GRPC', ['a.com'], { tls: { httpsRedirect: true } }),
    server('e', 81, 'HTTP', ['*'], { bind: '127.0.0.1' }),
    server('f', 81, 'GRPC-WEB', ['a.com'], { bind: '127.0.0.1' }),
    server('g', 81, 'HTTP2', ['a.com']),
    server('h', 443, 'TLS', ['t.com'], tls('SIMPLE')),
  ]),
  object('VirtualService', 'web', {
    hosts: ['a.com', 'x.b.com', 'm.com', 'c.com', 'plain.com'],
    gateways: ['default/one', 'default/two'],
    http: [{ match: [{ uri: { prefix: '/x' } }], route }, { route }],
  }),
  object('VirtualService', 'more', {
    hosts: ['a.com'],
    gateways: ['default/one', 'default/two'],
    http: [{ match: [{ uri: { prefix: '/y' } }], redirect: { uri: '/z', port: 443 } }],
  }),
  object('VirtualService', 'connections', {
    hosts: ['*.com'],
    gateways: ['default/one', 'default/two'],
    tls: [
      { match: [{ sniHosts: ['a.com', 't.com'] }], route },
      { match: [{ sniHosts: ['t.com', 'u.com'] }], route },
    ],
    tcp: [{ route }],
  }),
  object('ServiceEntry', 'web', {
    hosts: ['web.local'],
    location: 'MESH_INTERNAL',
    resolution: 'STATIC',
    ports: [{ number: 80, name: 'http', protocol: 'HTTP' }],
    endpoints: [{ address: '10.0.0.1', labels: { version: 'v1' } }],
  }),
  object('DestinationRule', 'web', {
    host: 'web.local',
    subsets: [{ name: 'v1', labels: { version: 'v1' } }],
    trafficPolicy: { loadBalancer: { consistentHash: { useSourceIp: true } } },
  }),
];

const topology = { numTrustedProxies: 2, forwardClientCertDetails: 'ALWAYS_FORWARD_ONLY', proxyProtocol: {} };
const CLIENTS: Readonly<Record<string, Client>> = {
  'with an agent': { dataplane: 'envoy' },
  'without an agent': { dataplane: 'bare' },
  'of IPv6': { dataplane: 'envoy', ip: '2001:db8::1' },
  'behind others': {
    dataplane: 'envoy',
    metadata: { PROXY_CONFIG: { gatewayTopology: topology, connectionSettings: { profile: 'EDGE' } } },
  },
};

for (const [name, client] of Object.entries(CLIENTS)) {
  test(`Gateways that are at odds give an upstream Envoy ${name} nothing that it refuses`, () => {
    const mesh = meshFixture(AT_ODDS);
    mesh.connect('gw', { type: 'router', labels: { app: 'gw' }, ...client });
    const resources = sent((type) => mesh.resources('gw', type) as ReadonlyMap<string, JsonObject>);
    assert.ok(resources.listeners.size >= 6 && resources.routes.size >= 6);
    assert.deepEqual(envoyRefusals(resources, files, { agent: client.dataplane !== 'bare' }), []);
  });
}

/** Each takes an Envoy a tenth of a second. */
const RUNS = Number(process.env['GWRUNS'] ?? 30);

test('whatever Gateways say, an upstream Envoy refuses nothing', () => {
  const edits = fc.array(randomGatewayEdit, { minLength: 4, maxLength: 16 });
  const dataplane = fc.constantFrom('envoy' as const, 'bare' as const);
  fc.assert(
    fc.property(edits, dataplane, (written, kind) => {
      const configs = new Map(written.flatMap(({ key, config }) => (config ? [[key, config] as const] : [])));
      const mesh = meshFixture([...configs.values()]);
      mesh.connect('gw', { type: 'router', namespace: 'edge', labels: { app: 'p', tier: 't' }, dataplane: kind });
      const resources = sent((type) => mesh.resources('gw', type) as ReadonlyMap<string, JsonObject>);
      assert.deepEqual(envoyRefusals(resources, files, { agent: kind !== 'bare' }), []);
    }),
    { numRuns: RUNS },
  );
});
