import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Key } from '../../src/derive/graph.ts';
import { CLUSTER_TYPE, ENDPOINT_TYPE, LISTENER_TYPE, ROUTE_TYPE } from '../../src/proto/type-urls.ts';
import type { AdsClient } from '../support/ads-client.ts';
import { nodeJson } from '../support/node.ts';
import { type Run, type ServedMesh, servedMesh } from '../support/served-mesh.ts';

const HEAD = (kind: string, name: string, group = 'networking') =>
  `apiVersion: ${group}.istio.io/v1\nkind: ${kind}\nmetadata: {name: ${name}}\nspec:\n`;

const ORDERS = `${HEAD('ServiceEntry', 'orders')}
  hosts: [orders.mesh]
  location: MESH_INTERNAL
  resolution: STATIC
  ports: [{number: 8080, name: http, protocol: HTTP}]
  endpoints:
  - {address: 10.20.0.1, labels: {version: v1}}
  - {address: 10.20.0.2, labels: {version: v2}}
`;
const USERS = `${HEAD('ServiceEntry', 'users')}
  hosts: [users.mesh]
  location: MESH_INTERNAL
  resolution: STATIC
  ports: [{number: 8080, name: http, protocol: HTTP}]
  endpoints: [{address: 10.20.1.1}]
`;
const PARTNER = `${HEAD('ServiceEntry', 'partner')}
  hosts: [partner.test]
  location: MESH_EXTERNAL
  resolution: DNS
  ports: [{number: 9090, name: http, protocol: HTTP}]
  endpoints: [{address: one.partner.test}]
`;
const WEB = `${HEAD('ServiceEntry', 'web')}
  hosts: [web.mesh]
  location: MESH_INTERNAL
  resolution: STATIC
  ports: [{number: 80, name: http, protocol: HTTP, targetPort: 8000}]
  workloadSelector: {labels: {app: web}}
`;
const MACHINE = `apiVersion: networking.istio.io/v1
kind: WorkloadEntry
metadata: {name: web-1, annotations: {proxy.istio.io/health-checks-enabled: 'true'}}
spec: {address: 10.20.2.1, labels: {app: web}}
status: {conditions: [{type: Healthy, status: 'True', lastProbeTime: '2026-01-01T00:00:00Z'}]}
`;
const RULE = `${HEAD('DestinationRule', 'orders')}
  host: orders.mesh
  subsets:
  - {name: v1, labels: {version: v1}}
  - {name: v2, labels: {version: v2}}
`;
const ROUTES = `${HEAD('VirtualService', 'orders')}
  hosts: [orders.mesh]
  http:
  - route:
    - {destination: {host: orders.mesh, subset: v1}, weight: 90}
    - {destination: {host: orders.mesh, subset: v2}, weight: 10}
`;
const POLICY = `${HEAD('AuthorizationPolicy', 'web', 'security')}
  selector: {matchLabels: {app: web}}
  rules: [{to: [{operation: {methods: [GET]}}]}]
`;
/** Proxies of this namespace know the users alone. */
const SCOPE = `${HEAD('Sidecar', 'default')}
  egress: [{hosts: [shop/users.mesh]}]
`;

const FILES = {
  'mesh.yaml': 'accessLogFile: ""\n',
  'shop/orders.yaml': ORDERS,
  'shop/users.yaml': USERS,
  'shop/partner.yaml': PARTNER,
  'shop/web.yaml': WEB,
  'shop/web-1.yaml': MACHINE,
  'shop/rule.yaml': RULE,
  'shop/routes.yaml': ROUTES,
  'shop/policy.yaml': POLICY,
  'edge/scope.yaml': SCOPE,
};

/** Derivations that make something of Envoy's. */
const TRANSLATIONS: ReadonlySet<string> = new Set([
  'cluster',
  'ownCluster',
  'loadAssignment',
  'outboundListener',
  'inboundListener',
  'virtualOutbound',
  'virtualHost',
  'routeConfiguration',
]);

const TYPE_URLS = [CLUSTER_TYPE, ENDPOINT_TYPE, LISTENER_TYPE, ROUTE_TYPE];

const TYPES: Readonly<Record<string, string>> = {
  Cluster: 'CDS',
  ClusterLoadAssignment: 'EDS',
  Listener: 'LDS',
  RouteConfiguration: 'RDS',
};

/** What a run was for, as far as its key says: a resource's name, or what kind of a cluster it is. */
function nameOf(key: Key): string {
  if (typeof key === 'string') return key.startsWith('{') ? (JSON.parse(key).name ?? '*') : key;
  const { entry, listener, name, kind } = key as Readonly<Record<string, { readonly name?: string } & string>>;
  return entry?.name ?? listener?.name ?? name ?? kind ?? '';
}

function translated(runs: readonly Run[]): readonly string[] {
  return runs
    .filter(({ derivation }) => TRANSLATIONS.has(derivation))
    .map(({ derivation, key }) => `${derivation} ${nameOf(key)}`.trimEnd())
    .sort();
}

/** What all clients were sent, in the order of each: `client TYPE name`, with a minus what was removed. */
function pushed(clients: Readonly<Record<string, AdsClient>>): readonly string[] {
  return Object.entries(clients).flatMap(([client, { log }]) =>
    log.splice(0).flatMap(({ typeUrl, resources, removed }) => {
      const type = TYPES[typeUrl.slice(typeUrl.lastIndexOf('.') + 1)];
      const changed = resources.map(({ name }) => `${client} ${type} ${name}`).sort();
      return [...changed, ...removed.map((name) => `${client} ${type} -${name}`).sort()];
    }),
  );
}

let mesh: ServedMesh;
let clients: Record<string, AdsClient>;

function connect(name: string, namespace: string, ip: string, app = name): Promise<AdsClient> {
  const metadata = { LABELS: { app } };
  return mesh.connect({ node: nodeJson({ id: `${name}.${namespace}`, namespace, ips: [ip], metadata }) });
}

before(async () => {
  mesh = await servedMesh(FILES);
  clients = {
    client: await connect('client', 'shop', '10.9.0.1'),
    web: await connect('web', 'shop', '10.20.2.1'),
    edge: await connect('edge', 'edge', '10.9.0.3'),
  };
});

after(() => mesh.stop());

interface Cost {
  readonly translated: readonly string[];
  readonly pushed: readonly string[];
}

async function costOf(act: () => unknown): Promise<Cost> {
  mesh.runs();
  pushed(clients);
  await act();
  await mesh.settled();
  return { translated: translated(mesh.runs()), pushed: pushed(clients) };
}

const NOTHING: Cost = { translated: [], pushed: [] };

/** Each of `names` at each of `who`, in this order. */
function at(who: readonly string[], ...names: readonly string[]): readonly string[] {
  return who.flatMap((client) => names.map((name) => `${client} ${name}`));
}

/** Those that see the whole mesh. */
const WIDE = ['client', 'web'];

/** @param edit text that is replaced in the file; it is put back afterwards */
function costs(title: string, file: keyof typeof FILES, [from, to]: readonly [string, string], expected: Cost): void {
  test(title, async () => {
    assert(FILES[file].includes(from));
    const cost = await costOf(() => mesh.write({ [file]: FILES[file].replace(from, to) }));
    await costOf(() => mesh.write({ [file]: FILES[file] }));
    assert.deepEqual(cost, expected);
  });
}

costs('a touched file costs nothing', 'shop/orders.yaml', ['', '# the same, a line below\n'], NOTHING);

costs('a heartbeat that finds the same costs nothing', 'shop/web-1.yaml', ['2026-01-01', '2026-01-02'], NOTHING);

costs('a known endpoint that moves costs its load assignments', 'shop/orders.yaml', ['10.20.0.1,', '10.20.0.7,'], {
  translated: [
    'loadAssignment outbound|8080|v1|orders.mesh',
    'loadAssignment outbound|8080|v2|orders.mesh',
    'loadAssignment outbound|8080||orders.mesh',
  ],
  pushed: at(WIDE, 'EDS outbound|8080|v1|orders.mesh', 'EDS outbound|8080||orders.mesh'),
});

costs('an endpoint found by DNS that moves costs its cluster', 'shop/partner.yaml', ['one.', 'two.'], {
  translated: ['cluster outbound|9090||partner.test'],
  pushed: at(WIDE, 'CDS outbound|9090||partner.test'),
});

costs(
  'an instance that fails its check costs its endpoints, and what it listens for',
  'shop/web-1.yaml',
  ["'True'", "'False'"],
  {
    translated: ['inboundListener virtualInbound', 'loadAssignment outbound|80||web.mesh'],
    pushed: [...at(WIDE, 'EDS outbound|80||web.mesh'), ...at(['web'], 'LDS virtualInbound', 'CDS -inbound|8000||')],
  },
);

costs('a weight costs the virtual host, wherever it stands', 'shop/routes.yaml', ['weight: 90}', 'weight: 91}'], {
  translated: [
    'routeConfiguration 80',
    'routeConfiguration 8080',
    'virtualHost orders.mesh:80',
    'virtualHost orders.mesh:8080',
  ],
  pushed: at(WIDE, 'RDS 80', 'RDS 8080'),
});

costs(
  'another host of a VirtualService costs that host',
  'shop/routes.yaml',
  ['[orders.mesh]', '[orders.mesh, new.mesh]'],
  {
    translated: [
      'routeConfiguration 80',
      'routeConfiguration 8080',
      'virtualHost new.mesh:80',
      'virtualHost new.mesh:8080',
    ],
    pushed: at(WIDE, 'RDS 80', 'RDS 8080'),
  },
);

const SUBSETS = ['outbound|8080|v1|orders.mesh', 'outbound|8080|v2|orders.mesh', 'outbound|8080||orders.mesh'];
const OF_SUBSETS = [...SUBSETS.map((name) => `cluster ${name}`), ...SUBSETS.map((name) => `loadAssignment ${name}`)];

costs(
  'a policy costs the clusters of its host, whose endpoints are sent again with them',
  'shop/rule.yaml',
  ['  subsets', '  trafficPolicy: {connectionPool: {tcp: {maxConnections: 7}}}\n  subsets'],
  {
    translated: OF_SUBSETS,
    pushed: at(WIDE, ...SUBSETS.map((name) => `CDS ${name}`), ...SUBSETS.map((name) => `EDS ${name}`)),
  },
);

costs('labels of a subset cost its endpoints', 'shop/rule.yaml', ['{version: v2}', '{version: v1}'], {
  translated: OF_SUBSETS,
  pushed: at(WIDE, 'EDS outbound|8080|v2|orders.mesh'),
});

costs('who may call a workload costs what that workload listens with', 'shop/policy.yaml', ['GET', 'PUT'], {
  translated: ['inboundListener virtualInbound'],
  pushed: ['web LDS virtualInbound'],
});

const LISTENERS = {
  translated: [
    ...Array<string>(3).fill('inboundListener virtualInbound'),
    'outboundListener 0.0.0.0_80',
    ...Array<string>(2).fill('outboundListener 0.0.0.0_8080'),
    'outboundListener 0.0.0.0_9090',
    'virtualOutbound',
  ],
  wide: ['0.0.0.0_80', '0.0.0.0_8080', '0.0.0.0_9090', 'virtualInbound', 'virtualOutbound'].map(
    (name) => `LDS ${name}`,
  ),
  narrow: ['0.0.0.0_8080', 'virtualInbound', 'virtualOutbound'].map((name) => `LDS ${name}`),
};

costs('an access log costs every listener and no cluster', 'mesh.yaml', ['""', '/dev/stdout'], {
  translated: LISTENERS.translated,
  pushed: [...at(WIDE, ...LISTENERS.wide), ...at(['edge'], ...LISTENERS.narrow)],
});

test('a connect timeout costs each cluster once, however many proxies have it', async () => {
  const { translated: made, pushed: sent } = await costOf(() =>
    mesh.write({ 'mesh.yaml': 'accessLogFile: ""\nconnectTimeout: 3s\n' }),
  );
  await costOf(() => mesh.write({ 'mesh.yaml': FILES['mesh.yaml'] }));
  const clusters = ['outbound|8080||users.mesh', 'outbound|80||web.mesh', 'outbound|9090||partner.test', ...SUBSETS];
  const own = ['black-hole', 'inbound', 'inbound-passthrough', 'passthrough'];
  assert.deepEqual(
    made.filter((run) => /^(ownC|c)luster /.test(run)),
    [...clusters.map((name) => `cluster ${name}`), ...own.map((kind) => `ownCluster ${kind}`)].sort(),
  );
  assert.deepEqual(
    made.filter((run) => /^(loadAssignment|virtualHost|routeConfiguration) /.test(run)),
    [],
  );
  const ofEdge = sent.filter((line) => /^edge [CE]DS /.test(line));
  const builtIn = ['BlackHoleCluster', 'InboundPassthroughCluster', 'PassthroughCluster'];
  assert.deepEqual(ofEdge, [
    ...at(['edge'], ...[...builtIn, 'outbound|8080||users.mesh'].map((name) => `CDS ${name}`)),
    'edge EDS outbound|8080||users.mesh',
  ]);
});

test('a proxy that joins others of its kind costs nothing, and is sent what they have', async () => {
  const cost = await costOf(async () => {
    clients['twin'] = await connect('twin', 'shop', '10.9.0.9', 'client');
  });
  const { client, twin } = clients;
  assert(client && twin);
  assert.deepEqual(cost.translated, []);
  assert.deepEqual([...new Set(cost.pushed.map((line) => line.split(' ')[0]))], ['twin']);
  const scopes = new Set(
    [...mesh.sessions.sessions].flatMap(({ id, scope }) => (/^(twin|client)\./.test(id) ? [scope] : [])),
  );
  assert.equal(scopes.size, 1);
  for (const typeUrl of TYPE_URLS) {
    const held = (one: AdsClient) =>
      [...one.type(typeUrl).held.values()].map(({ name, version }) => `${name} ${version}`);
    assert.deepEqual(held(twin).sort(), held(client).sort());
  }
});
