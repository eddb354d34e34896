import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Key } from '../../src/derive/graph.ts';
import type { AdsClient } from '../support/ads-client.ts';
import { nodeJson } from '../support/node.ts';
import { type ServedMesh, servedMesh } from '../support/served-mesh.ts';

const SERVICES = `apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: orders}
spec:
  hosts: [orders.mesh]
  location: MESH_INTERNAL
  resolution: STATIC
  addresses: [10.20.0.9]
  ports: [{number: 8080, name: http, protocol: HTTP}, {number: 9000, name: tcp, protocol: TCP}]
  endpoints: [{address: 10.20.0.1}]
---
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: otel}
spec:
  hosts: [otel.mesh]
  location: MESH_INTERNAL
  resolution: STATIC
  addresses: [10.20.0.8]
  ports: [{number: 4317, name: grpc, protocol: GRPC}]
  endpoints: [{address: 10.20.0.2}]
`;
const OF_WEB = `apiVersion: telemetry.istio.io/v1
kind: Telemetry
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  accessLogging: [{providers: [{name: otel-logs}], filter: {expression: response.code >= 400}}]
  metrics: [{providers: [{name: prometheus}], reportingInterval: 5s}]
`;
const OF_SHOP = `apiVersion: telemetry.istio.io/v1
kind: Telemetry
metadata: {name: shop}
spec:
  tracing: [{providers: [{name: spans}], randomSamplingPercentage: 50}]
`;
const MESH = `extensionProviders:
- {name: otel-logs, envoyOtelAls: {service: otel.mesh, port: 4317}}
- {name: spans, opentelemetry: {service: otel.mesh, port: 4317}}
`;
const FILES = {
  'mesh.yaml': MESH,
  'shop/services.yaml': SERVICES,
  'shop/web.yaml': OF_WEB,
  'shop/shop.yaml': OF_SHOP,
};

/** Derivations that look at Telemetries, or make listeners of what they say. */
const LISTENERS: ReadonlySet<string> = new Set(['inboundListener', 'outboundListener', 'virtualOutbound']);
const SELECTIONS = ['telemetryHeads', 'telemetriesOf', 'accessLogs', 'statsFilters', 'telemetryProvider'];

let mesh: ServedMesh;
const clients: Record<string, AdsClient> = {};

async function connect(name: string, namespace: string, ip: string): Promise<void> {
  const metadata = { LABELS: { app: name } };
  clients[name] = await mesh.connect({
    node: nodeJson({ id: `${name}.${namespace}`, namespace, ips: [ip], metadata }),
  });
}

before(async () => {
  mesh = await servedMesh(FILES);
  await connect('client', 'shop', '10.9.0.1');
  await connect('web', 'shop', '10.9.0.2');
  await connect('edge', 'edge', '10.9.0.3');
});

after(() => mesh.stop());

function nameOf(key: Key): string {
  if (typeof key === 'string') return key;
  const { listener, name } = key as Readonly<Record<string, { readonly name?: string } & string>>;
  return listener?.name ?? name ?? 'virtualOutbound';
}

interface Cost {
  readonly translated: readonly string[];
  readonly pushed: readonly string[];
}

/** What an edit costs; it is taken back afterwards. */
async function costOf(file: keyof typeof FILES, [from, to]: readonly [string, string]): Promise<Cost> {
  assert(FILES[file].includes(from));
  const write = async (text: string): Promise<Cost> => {
    mesh.runs();
    for (const { log } of Object.values(clients)) log.splice(0);
    mesh.write({ [file]: text });
    await mesh.settled();
    const translated = mesh.runs().filter(({ derivation }) => LISTENERS.has(derivation));
    return {
      translated: translated.map(({ key }) => nameOf(key)).sort(),
      pushed: Object.entries(clients).flatMap(([client, { log }]) =>
        log.flatMap(({ resources }) => resources.map(({ name }) => `${client} ${name}`)).sort(),
      ),
    };
  };
  const cost = await write(FILES[file].replace(from, to));
  await write(FILES[file]);
  return cost;
}

const ALL = ['0.0.0.0_4317', '0.0.0.0_8080', '10.20.0.9_9000', 'virtualInbound', 'virtualOutbound'];
const HTTP = ['0.0.0.0_4317', '0.0.0.0_8080', 'virtualInbound'];
const at = (client: string, names: readonly string[]) => names.map((name) => `${client} ${name}`);

test('the filter of a log costs the listeners of the workloads that have the log', async () => {
  assert.deepEqual(await costOf('shop/web.yaml', ['400', '500']), { translated: ALL, pushed: at('web', ALL) });
});

test('sampling for a namespace costs what of its workloads speaks HTTP, once for workloads that are alike', async () => {
  assert.deepEqual(await costOf('shop/shop.yaml', ['50', '60']), {
    translated: [...HTTP, ...HTTP].sort(),
    pushed: [...at('client', HTTP), ...at('web', HTTP)],
  });
});

test('what a proxy can not do costs nothing', async () => {
  assert.deepEqual(await costOf('shop/web.yaml', ['5s', '6s']), { translated: [], pushed: [] });
});

test('a selector that takes in no other workload costs nothing', async () => {
  assert.deepEqual(await costOf('shop/shop.yaml', ['spec:', 'spec:\n  selector: {}']), { translated: [], pushed: [] });
});

test('an endpoint of where logs go costs its load assignment and no listener', async () => {
  const { translated, pushed } = await costOf('shop/services.yaml', ['10.20.0.2}', '10.20.0.3}']);
  assert.deepEqual(translated, []);
  assert.deepEqual([...new Set(pushed.map((line) => line.split(' ')[1]))], ['outbound|4317||otel.mesh']);
});

test('a provider that nobody uses costs nothing', async () => {
  const more = `${MESH}- {name: unused, zipkin: {service: otel.mesh, port: 4317}}\n`;
  assert.deepEqual(await costOf('mesh.yaml', [MESH, more]), { translated: [], pushed: [] });
});

test('a mesh without Telemetries looks at none', async () => {
  const without = await servedMesh({ 'shop/services.yaml': SERVICES });
  try {
    await without.connect({ node: nodeJson({ id: 'client.shop', namespace: 'shop', ips: ['10.9.0.1'] }) });
    const ran = without.runs().filter(({ derivation }) => SELECTIONS.includes(derivation));
    assert.deepEqual(ran, []);
  } finally {
    without.stop();
  }
});
