import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { envoy } from '#generated/proto/types.ts';
import type { Config } from '../../../src/config/config.ts';
import { CLUSTER_TYPE, ENDPOINT_TYPE, LISTENER_TYPE, ROUTE_TYPE } from '../../../src/proto/type-urls.ts';
import { type Client, meshFixture, object } from '../../support/mesh-fixture.ts';

type Listener = envoy.config.listener.v3.Listener;
type FilterChain = envoy.config.listener.v3.FilterChain;
type Spec = Readonly<Record<string, unknown>>;

const LABELS = { app: 'gateway' };
const ROUTER: Client = { type: 'router', namespace: 'edge', labels: LABELS };

const gateway = (name: string, servers: readonly Spec[], selector: Spec = LABELS) =>
  object('Gateway', name, { selector, servers }, 'edge');
const server = (port: number, protocol: string, hosts: readonly string[], more: Spec = {}) => ({
  port: { number: port, name: `${hosts[0]}-${port}`, protocol },
  hosts,
  ...more,
});
const service = (name: string, endpoints: readonly string[] = ['10.0.0.1'], location = 'MESH_INTERNAL') =>
  object('ServiceEntry', name, {
    hosts: [`${name}.example.com`],
    location,
    resolution: 'STATIC',
    ports: [{ number: 8000, name: 'http', protocol: 'HTTP' }],
    endpoints: endpoints.map((address) => ({ address })),
  });
const to = (name: string, weight: number) => ({ destination: { host: `${name}.example.com` }, weight });
const http = (name: string, host: string, weight = 50, gateways = ['edge/web']) =>
  object('VirtualService', name, {
    hosts: [host],
    gateways,
    http: [{ route: [to('a', weight), to('b', 100 - weight)] }],
  });
const tcp = (name: string, weight = 50) =>
  object('VirtualService', name, {
    hosts: ['*'],
    gateways: ['edge/connections'],
    tcp: [{ route: [to('a', weight), to('b', 100 - weight)] }],
  });

const WEB = gateway('web', [server(80, 'HTTP', ['*']), server(8080, 'HTTP', ['x.com'])]);
const CONNECTIONS = gateway('connections', [server(9000, 'TCP', ['*']), server(9001, 'TCP', ['*'])]);
const CONFIGS = [service('a'), service('b'), WEB, CONNECTIONS, http('one', 'x.com'), http('two', 'y.com'), tcp('raw')];

const COUNTED = [
  'mergedGateway',
  'gatewayListener',
  'gatewayRoutePlan',
  'virtualHost',
  'virtualServiceRoutes',
] as const;

function started() {
  const mesh = meshFixture(CONFIGS, COUNTED);
  const scope = mesh.connect('edge-1', ROUTER);
  const watches = [CLUSTER_TYPE, ENDPOINT_TYPE, LISTENER_TYPE, ROUTE_TYPE].map((type) => {
    const resources = mesh.pipeline.resources.get(type);
    assert.ok(resources);
    return [type.split('.').at(-1) ?? '', mesh.graph.watch(resources, scope)] as const;
  });
  const revisions = new Map(watches.map(([type, { value }]) => [type, value.revision]));
  mesh.ran();
  return {
    mesh,
    /** @returns what ran, and what changed, as `type name` */
    edit: (...configs: readonly Config[]) => {
      mesh.edit(...configs);
      const sent = watches.flatMap(([type, { value }]) => {
        const changes = value.changesSince(revisions.get(type) ?? 0);
        assert.ok(changes);
        revisions.set(type, value.revision);
        return [...changes.changed.keys(), ...changes.removed.map((name) => `-${name}`)].map(
          (name) => `${type} ${name}`,
        );
      });
      return { ran: [...mesh.ran()].sort(), sent };
    },
  };
}

test('an endpoint touches nothing of a gateway but its endpoints', () => {
  const { edit } = started();
  assert.deepEqual(edit(service('a', ['10.0.0.2'])), {
    ran: [],
    sent: ['ClusterLoadAssignment outbound|8000||a.example.com'],
  });
});

test('a weight of an HTTP route translates its virtual hosts, and no listener', () => {
  const { edit } = started();
  assert.deepEqual(edit(http('two', 'y.com', 30)), {
    ran: ['virtualHost', 'virtualServiceRoutes'],
    sent: ['RouteConfiguration http.80'],
  });
});

test('a weight of a TCP route translates the listeners of its gateway that take it', () => {
  const { edit } = started();
  assert.deepEqual(edit(tcp('raw', 30)), {
    ran: ['gatewayListener', 'gatewayListener'],
    sent: ['Listener 0.0.0.0_9000', 'Listener 0.0.0.0_9001'],
  });
});

test('a changed server of a Gateway translates its own place', () => {
  const { edit } = started();
  const changed = gateway('web', [server(80, 'HTTP', ['*']), server(8081, 'HTTP', ['x.com'])]);
  assert.deepEqual(edit(changed), {
    ran: ['gatewayListener', 'gatewayRoutePlan', 'mergedGateway', 'virtualHost', 'virtualServiceRoutes'],
    sent: [
      'Listener 0.0.0.0_8081',
      'Listener -0.0.0.0_8080',
      'RouteConfiguration http.8081',
      'RouteConfiguration -http.8080',
    ],
  });
});

test('objects of other gateways touch nothing', () => {
  const { edit } = started();
  const other = gateway('other', [server(80, 'HTTP', ['*'])], { app: 'other' });
  assert.deepEqual(edit(other, http('three', 'z.com', 50, ['edge/other'])), { ran: [], sent: [] });
});

test('a new host of a VirtualService is planned where its gateway routes requests', () => {
  const { edit } = started();
  const { ran, sent } = edit(http('three', 'x.com'));
  assert.deepEqual(
    ran.filter((name) => name !== 'virtualHost' && name !== 'virtualServiceRoutes'),
    ['gatewayRoutePlan', 'gatewayRoutePlan'],
  );
  assert.deepEqual(sent, ['RouteConfiguration http.80', 'RouteConfiguration http.8080']);
});

test('a VirtualService for other hosts than those of a server is nothing to it', () => {
  const { edit } = started();
  const { ran, sent } = edit(http('three', 'z.com'));
  assert.equal(ran.filter((name) => name === 'gatewayRoutePlan').length, 1);
  assert.deepEqual(sent, ['RouteConfiguration http.80']);
});

test('gateways with the same Gateways share their translation', () => {
  const { mesh } = started();
  mesh.connect('edge-2', { ...ROUTER, ip: '10.9.9.8', labels: { ...LABELS, version: 'v2' } });
  const [first, second] = ['edge-1', 'edge-2'].map((name) => mesh.resources(name, LISTENER_TYPE));
  assert.deepEqual(second, first);
  assert.deepEqual(mesh.ran(), []);
});

function listeners(servers: readonly Spec[], client: Client = {}, more: readonly Config[] = []) {
  const mesh = meshFixture([...CONFIGS.slice(0, 2), gateway('g', servers), ...more]);
  mesh.connect('edge', { ...ROUTER, ...client });
  return mesh.resources('edge', LISTENER_TYPE) as ReadonlyMap<string, Listener>;
}

function manager(chain: FilterChain | undefined): Spec {
  const filter = chain?.filters?.find(({ name }) => name === 'envoy.filters.network.http_connection_manager');
  return (filter?.typedConfig ?? {}) as Spec;
}

function secrets(listener: Listener | undefined): readonly string[] {
  return [
    ...(JSON.stringify(listener) ?? '').matchAll(
      /"name":"((?:file-|kubernetes)[^"]*|default|ROOTCA)","sdsConfig":\{"(\w+)"/g,
    ),
  ].map(([, name, source]) => `${name} by ${source}`);
}

const files = { mode: 'MUTUAL', serverCertificate: 'a.pem', privateKey: 'a.key', caCertificates: 'ca.pem' };
const https = (tls: Spec, hosts = ['x.com']) => [server(443, 'HTTPS', hosts, { tls })];

interface SecretCase {
  readonly tls: Spec;
  /** With an agent, and without. */
  readonly expected: readonly [readonly string[], readonly string[]];
}

const SECRETS: readonly SecretCase[] = [
  { tls: { mode: 'SIMPLE', credentialName: 'c' }, expected: [['kubernetes://c by ads'], ['kubernetes://c by ads']] },
  {
    tls: { mode: 'OPTIONAL_MUTUAL', credentialNames: ['c', 'd'] },
    expected: [
      ['kubernetes://c by ads', 'kubernetes://d by ads', 'kubernetes://c-cacert by ads'],
      ['kubernetes://c by ads', 'kubernetes://d by ads', 'kubernetes://c-cacert by ads'],
    ],
  },
  {
    tls: files,
    expected: [
      ['file-cert:a.pem~a.key by apiConfigSource', 'file-root:ca.pem by apiConfigSource'],
      ['file-cert:a.pem~a.key by ads', 'file-root:ca.pem by ads'],
    ],
  },
  { tls: { mode: 'ISTIO_MUTUAL' }, expected: [['default by apiConfigSource', 'ROOTCA by apiConfigSource'], []] },
];

for (const { tls, expected } of SECRETS) {
  test(`secrets of ${tls['mode']} come by the agent, or by the stream where there is none`, () => {
    const dataplanes = ['envoy', 'bare'] as const;
    const found = dataplanes.map((dataplane) => secrets(listeners(https(tls), { dataplane }).get('0.0.0.0_443')));
    assert.deepEqual(found, expected);
  });
}

test('mutual TLS of the mesh is not served without an agent, and nothing in its place', () => {
  const servers = [...https({ mode: 'ISTIO_MUTUAL' }), ...https({ mode: 'SIMPLE', credentialName: 'c' }, ['y.com'])];
  const found = listeners(servers, { dataplane: 'bare' }).get('0.0.0.0_443');
  assert.deepEqual(
    found?.filterChains?.map(({ filterChainMatch }) => filterChainMatch?.serverNames),
    [['y.com']],
  );
});

test('an unprivileged gateway has no ports below 1024, unless its Service leads them elsewhere', () => {
  const unprivileged = { metadata: { UNPRIVILEGED_POD: 'true' }, ip: '10.0.0.9' };
  const servers = [server(80, 'HTTP', ['*']), server(443, 'TCP', ['*']), server(8080, 'HTTP', ['*'])];
  assert.deepEqual([...listeners(servers, unprivileged).keys()], ['0.0.0.0_8080']);
  const own = object(
    'ServiceEntry',
    'own',
    {
      hosts: ['own.example.com'],
      location: 'MESH_INTERNAL',
      resolution: 'STATIC',
      ports: [{ number: 80, name: 'http', protocol: 'HTTP', targetPort: 10080 }],
      endpoints: [{ address: '10.0.0.9', labels: LABELS }],
    },
    'edge',
  );
  assert.deepEqual([...listeners(servers, unprivileged, [own]).keys()], ['0.0.0.0_10080', '0.0.0.0_8080']);
});

test('what stands before a gateway decides what it believes of its callers', () => {
  const gatewayTopology = { numTrustedProxies: 2, forwardClientCertDetails: 'FORWARD_ONLY', proxyProtocol: {} };
  const metadata = {
    PROXY_CONFIG: { gatewayTopology, connectionSettings: { profile: 'EDGE', httpIdleTimeout: '7s' } },
  };
  const found = listeners([server(80, 'HTTP', ['*'])], { metadata }).get('0.0.0.0_80');
  const { xffNumTrustedHops, forwardClientCertDetails, useRemoteAddress, ...rest } = manager(found?.filterChains?.[0]);
  assert.deepEqual([xffNumTrustedHops, forwardClientCertDetails, useRemoteAddress], [2, 'FORWARD_ONLY', true]);
  assert.equal(rest['setCurrentClientCertDetails'], undefined);
  assert.deepEqual(rest['commonHttpProtocolOptions'], {
    idleTimeout: '7s',
    headersWithUnderscoresAction: 'REJECT_REQUEST',
  });
  assert.equal(found?.perConnectionBufferLimitBytes, 32_768);
  assert.deepEqual(
    found?.listenerFilters?.map(({ name }) => name),
    ['envoy.filters.listener.proxy_protocol'],
  );
});

test('policies hold for what a gateway takes, but not for what it passes on to others unopened', () => {
  const policy = object(
    'AuthorizationPolicy',
    'deny',
    { action: 'DENY', rules: [{ from: [{ source: { ipBlocks: ['10.0.0.0/8'] } }] }] },
    'edge',
  );
  const servers = [
    server(80, 'HTTP', ['*']),
    server(9000, 'TCP', ['*']),
    server(15443, 'TLS', ['*.example.com'], { tls: { mode: 'AUTO_PASSTHROUGH' } }),
  ];
  const raw = object('VirtualService', 'raw', { hosts: ['*'], gateways: ['edge/g'], tcp: [{ route: [to('a', 100)] }] });
  const found = listeners(servers, {}, [{ ...policy, group: 'security.istio.io' }, raw]);
  const enforced = [...found].filter(([, listener]) => JSON.stringify(listener).includes('envoy.filters.network.rbac'));
  assert.deepEqual(
    enforced.map(([name]) => name),
    ['0.0.0.0_9000'],
  );
  const { httpFilters } = manager(found.get('0.0.0.0_80')?.filterChains?.[0]) as {
    httpFilters?: readonly { name: string }[];
  };
  assert.ok(httpFilters?.some(({ name }) => name === 'envoy.filters.http.rbac'));
});

test('a gateway that passes mutual TLS on has clusters for it, with endpoints that speak it alone', () => {
  const auto = [server(15443, 'TLS', ['a.example.com'], { tls: { mode: 'AUTO_PASSTHROUGH' } })];
  const mesh = meshFixture([
    service('a'),
    service('b'),
    service('out', ['1.2.3.4'], 'MESH_EXTERNAL'),
    gateway('g', auto),
  ]);
  mesh.connect('edge', ROUTER);
  const named = (type: string) =>
    [...mesh.resources('edge', type).keys()].filter((name) => name.startsWith('outbound_'));
  const names = ['outbound_.8000_._.a.example.com', 'outbound_.8000_._.b.example.com'];
  assert.deepEqual(named(CLUSTER_TYPE), names);
  assert.deepEqual(named(ENDPOINT_TYPE), names);
  assert.deepEqual(mesh.resources('edge', ENDPOINT_TYPE).get(names[0] ?? '')?.['endpoints'], [{ locality: {} }]);
  const chains = (mesh.resources('edge', LISTENER_TYPE).get('0.0.0.0_15443') as Listener).filterChains;
  assert.deepEqual(
    chains?.map(({ filterChainMatch }) => filterChainMatch?.serverNames),
    [[names[0]]],
  );
  mesh.edit(gateway('g', [server(80, 'HTTP', ['*'])]));
  assert.deepEqual(named(CLUSTER_TYPE), []);
});
