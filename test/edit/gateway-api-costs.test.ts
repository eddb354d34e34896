import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CLUSTER_TYPE, LISTENER_TYPE, ROUTE_TYPE } from '../../src/proto/type-urls.ts';
import { nodeJson } from '../support/node.ts';
import { servedMesh } from '../support/served-mesh.ts';

const GATEWAY = `apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge}
spec:
  gatewayClassName: istio
  addresses: [{type: Hostname, value: edge.mesh}]
  listeners:
  - {name: http, port: 80, protocol: HTTP, hostname: "*.example.com"}
  - {name: more, port: 81, protocol: HTTP}
---
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: edge}
spec:
  hosts: [edge.mesh]
  location: MESH_INTERNAL
  resolution: STATIC
  ports: [{number: 80, name: http, protocol: HTTP, targetPort: 8080}, {number: 81, name: more, protocol: HTTP, targetPort: 8081}]
  endpoints: [{address: 10.9.0.1}]
`;

const WEB = `apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: web}
spec:
  hosts: [web.mesh]
  location: MESH_INTERNAL
  resolution: STATIC
  ports: [{number: 8000, name: http, protocol: HTTP}]
  endpoints: [{address: 10.20.0.1}]
`;

const WEIGHT = 'weight: 90';

const route = (name: string, section = 'http') => `apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: ${name}}
spec:
  parentRefs: [{name: edge, sectionName: ${section}}]
  hostnames: [${name}.example.com]
  rules:
  - backendRefs:
    - {group: networking.istio.io, kind: Hostname, name: web.mesh, port: 8000, ${WEIGHT}}
    - {group: networking.istio.io, kind: Hostname, name: web.mesh, port: 8000, weight: 10}
`;

const TYPES: Readonly<Record<string, string>> = { [CLUSTER_TYPE]: 'CDS', [LISTENER_TYPE]: 'LDS', [ROUTE_TYPE]: 'RDS' };

interface Cost {
  /** Runs of each derivation. */
  readonly runs: Readonly<Record<string, number>>;
  /** What the gateway was sent. */
  readonly sent: readonly string[];
}

/** What an edit costs in a mesh with `count` routes at one listener of a gateway, and one at another. */
async function costOf(count: number, edit: Readonly<Record<string, string>>): Promise<Cost> {
  const names = Array.from({ length: count }, (_, i) => `r${i}`);
  const files = {
    'shop/gateway.yaml': GATEWAY,
    'shop/web.yaml': WEB,
    'shop/other.yaml': route('other', 'more'),
    ...Object.fromEntries(names.map((name) => [`shop/${name}.yaml`, route(name)])),
  };
  const mesh = await servedMesh(files);
  const client = await mesh.connect({
    node: nodeJson({ type: 'router', id: 'edge-1.shop', namespace: 'shop', ips: ['10.9.0.1'] }),
  });
  mesh.runs();
  client.log.splice(0);
  mesh.write(edit);
  await mesh.settled();
  const runs: Record<string, number> = {};
  for (const { derivation } of mesh.runs()) runs[derivation] = (runs[derivation] ?? 0) + 1;
  const sent = client.log.flatMap(({ typeUrl, resources }) =>
    resources.map(({ name }) => `${TYPES[typeUrl] ?? typeUrl} ${name}`),
  );
  mesh.stop();
  return { runs, sent };
}

test('a weight of an HTTPRoute costs that route, its host and one route configuration, however many routes there are', async () => {
  const edit = { 'shop/r1.yaml': route('r1').replace(WEIGHT, 'weight: 91') };
  const few = await costOf(4, edit);
  assert.deepEqual(few.sent, ['RDS http.8080']);
  for (const derivation of ['convertedRoute', 'madeRoute', 'virtualHost', 'gatewayRouteConfiguration']) {
    assert.equal(few.runs[derivation], 1, derivation);
  }
  for (const derivation of [
    'convertedGateway',
    'routeSources',
    'makers',
    'gatewayRoutePlan',
    'gatewayListener',
    'cluster',
  ]) {
    assert.equal(few.runs[derivation], undefined, derivation);
  }
  assert.deepEqual(await costOf(40, edit), few);
});

test('a backend that comes costs the routes that refer to it', async () => {
  const missing = route('r1').replaceAll('group: networking.istio.io, kind: Hostname, name: web.mesh', 'name: web');
  const edit = { 'shop/r1.yaml': missing };
  const { sent, runs } = await costOf(4, edit);
  assert.deepEqual(sent, ['RDS http.8080']);
  assert.equal(runs['convertedRoute'], 1);
});

test('a mesh without such objects converts nothing', async () => {
  const mesh = await servedMesh({ 'shop/web.yaml': WEB });
  await mesh.connect({ node: nodeJson({ id: 'web-1.shop', namespace: 'shop', ips: ['10.20.0.1'], metadata: {} }) });
  const converting = mesh
    .runs()
    .filter(({ derivation }) => /^(converted|madeRoute$|madeGateway$|madeConfig)/.test(derivation));
  assert.deepEqual(converting, []);
  mesh.stop();
});
