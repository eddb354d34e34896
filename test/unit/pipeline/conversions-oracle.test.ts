import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatDiagnostic } from '../../../src/base/diagnostic.ts';
import { proxyOfNode } from '../../../src/model/node.ts';
import { STATUS_KINDS } from '../../../src/pipeline/conversions/status.ts';
import { type FileMesh, fileMesh } from '../../support/mesh-files.ts';
import { runs } from '../../support/runs.ts';

const object = (kind: string, name: string, spec: string, group = 'gateway.networking.k8s.io/v1', more = '') =>
  `apiVersion: ${group}\nkind: ${kind}\nmetadata: {name: ${name}${more}}\nspec: ${spec}\n`;
const service = (name: string, ports = '{name: http, port: 80}') =>
  object('Service', name, `{clusterIP: 10.96.0.1, ports: [${ports}]}`, 'v1');
const gateway = (listeners: string, more = '') =>
  object('Gateway', 'edge', `{gatewayClassName: istio, listeners: [${listeners}]${more}}`);
const route = (name: string, parents: string, rest: string, kind = 'HTTPRoute', age = 0) =>
  object(
    kind,
    name,
    `{parentRefs: [${parents}], ${rest}}`,
    undefined,
    age ? `, creationTimestamp: "202${age}-01-01T00:00:00Z"` : '',
  );
const HTTP = '{name: http, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}';
const to = (...names: readonly string[]) =>
  `rules: [{backendRefs: [${names.map((name) => `{name: ${name}, port: 80}`).join()}]}]`;
const ingress = (name: string, path: string, age: number) =>
  object(
    'Ingress',
    name,
    `{rules: [{host: a.test, http: {paths: [{path: ${path}, pathType: Prefix, backend: {service: {name: web, port: {name: http}}}}]}}]}`,
    'networking.k8s.io/v1',
    `, creationTimestamp: "202${age}-01-01T00:00:00Z"`,
  );

/** What may stand in each file. */
const VARIANTS: Readonly<Record<string, readonly (string | undefined)[]>> = {
  'mesh.yaml': [undefined, 'ingressControllerMode: DEFAULT\n', 'ingressControllerMode: "OFF"\n'],
  'shop/ns.yaml': [undefined, 'apiVersion: v1\nkind: Namespace\nmetadata: {name: bank, labels: {open: "yes"}}\n'],
  'shop/class.yaml': [undefined, object('GatewayClass', 'istio', '{controllerName: example.com/other}')],
  'shop/edge.yaml': [
    undefined,
    service('edge-istio'),
    service('edge-istio', '{name: http, port: 80, targetPort: 8080}'),
  ],
  'shop/slice.yaml': [
    undefined,
    'apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: e, labels: {kubernetes.io/service-name: edge-istio}}\naddressType: IPv4\nports: [{name: http, port: 80}]\nendpoints: [{addresses: [10.9.9.9]}]\n',
  ],
  'shop/gateway.yaml': [
    undefined,
    gateway(HTTP),
    gateway(`${HTTP}, {name: b, port: 80, protocol: HTTP, hostname: b.test}`),
    gateway(
      '{name: http, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: Selector, selector: {matchLabels: {open: "yes"}}}}}',
    ),
    gateway(HTTP, ', allowedListeners: {namespaces: {from: All}}'),
  ],
  'bank/set.yaml': [
    undefined,
    object(
      'ListenerSet',
      'more',
      '{parentRef: {name: edge, namespace: shop}, listeners: [{name: c, port: 80, protocol: HTTP, hostname: c.test}]}',
    ),
    object(
      'ListenerSet',
      'more',
      '{parentRef: {name: edge, namespace: shop}, listeners: [{name: c, port: 80, protocol: HTTP}]}',
    ),
  ],
  'shop/r1.yaml': [
    undefined,
    route('r1', '{name: edge}', `hostnames: [a.test, b.test], ${to('web')}`),
    route('r1', '{name: edge}', `hostnames: [b.test], ${to('web', 'gone')}`, 'HTTPRoute', 3),
    route('r1', '{kind: Service, group: "", name: web}', to('gone')),
  ],
  'bank/r2.yaml': [
    undefined,
    route(
      'r2',
      '{name: edge, namespace: shop, sectionName: http}',
      `hostnames: [a.test], rules: [{matches: [{path: {value: /x}}], backendRefs: [{name: web, namespace: shop, port: 80}]}]`,
    ),
    route('r2', '{kind: ListenerSet, name: more}', to('web'), 'HTTPRoute', 1),
    route(
      'r2',
      '{kind: Service, group: "", name: web, namespace: shop}',
      `rules: [{timeouts: {request: 1s}, backendRefs: [{name: web, namespace: shop, port: 80}]}]`,
    ),
  ],
  'shop/r3.yaml': [undefined, route('r3', '{name: edge}', `hostnames: [a.test], ${to('web')}`, 'GRPCRoute')],
  'shop/grant.yaml': [
    undefined,
    object(
      'ReferenceGrant',
      'g',
      '{from: [{group: gateway.networking.k8s.io, kind: HTTPRoute, namespace: bank}], to: [{group: "", kind: Service}]}',
    ),
  ],
  'shop/web.yaml': [undefined, service('web'), service('web', '{name: http, port: 80}, {name: more, port: 81}')],
  'shop/tls.yaml': [
    undefined,
    object(
      'BackendTLSPolicy',
      't',
      '{targetRefs: [{group: "", kind: Service, name: web}], validation: {hostname: a.test, wellKnownCACertificates: System}}',
    ),
    object(
      'BackendTLSPolicy',
      't',
      '{targetRefs: [{group: "", kind: Service, name: web, sectionName: more}], validation: {hostname: a.test, wellKnownCACertificates: System}}',
    ),
  ],
  'shop/rule.yaml': [
    undefined,
    object(
      'DestinationRule',
      'web',
      '{host: web, trafficPolicy: {connectionPool: {tcp: {maxConnections: 7}}}}',
      'networking.istio.io/v1',
    ),
  ],
  'shop/vs.yaml': [
    undefined,
    object(
      'VirtualService',
      'v',
      '{hosts: [a.test], gateways: [edge~istio-autogenerated-k8s-gateway~http], http: [{timeout: 2s, route: [{destination: {host: web}}]}]}',
      'networking.istio.io/v1',
    ),
  ],
  'shop/i1.yaml': [undefined, ingress('i1', '/a', 1), ingress('i1', '/a', 3)],
  'shop/i2.yaml': [undefined, ingress('i2', '/b', 2)],
};

const CLIENTS = [
  ['router~10.9.9.9~edge-1.shop~shop.svc.cluster.local', {}],
  ['router~10.9.9.8~in-1.istio-system~istio-system.svc.cluster.local', { istio: 'ingressgateway' }],
  ['sidecar~10.9.9.7~c-1.shop~shop.svc.cluster.local', {}],
  ['sidecar~10.9.9.6~c-1.bank~bank.svc.cluster.local', {}],
] as const;

function connect({ graph, pipeline }: FileMesh): void {
  graph.batch(() => {
    for (const [id, labels] of CLIENTS) {
      const namespace = id.split('~')[2]?.split('.')[1] ?? '';
      const proxy = proxyOfNode({
        id,
        extensions: [],
        metadata: { NAMESPACE: namespace, LABELS: labels, SDS: 'true' },
      });
      assert.ok(!('refused' in proxy));
      pipeline.mesh.proxies.set(id, proxy);
    }
  });
}

/** All that is made: resources, statuses and findings. */
function everything(mesh: FileMesh): unknown {
  const { pipeline } = mesh;
  const resources = CLIENTS.map(([id]) => {
    const scope = pipeline.mesh.scopeOf.get(id);
    assert.ok(scope);
    return [...pipeline.resources.values()].map((collection) =>
      [...collection.get(scope).entries()].map(([, { name, version }]) => `${name} ${version}`),
    );
  });
  const statuses = STATUS_KINDS.map((kind) => [...pipeline.statuses.get(kind).entries()]);
  return { resources, statuses, findings: mesh.findings().map(formatDiagnostic) };
}

/** The first text of each file, but for a class that takes the Gateway away. */
const START = Object.fromEntries(
  Object.entries(VARIANTS).flatMap(([path, [, text]]) => (text && path !== 'shop/class.yaml' ? [[path, text]] : [])),
);

const edits = fc.array(
  fc
    .constantFrom(...Object.keys(VARIANTS))
    .chain((path) => fc.tuple(fc.constant(path), fc.constantFrom(...(VARIANTS[path] ?? [])))),
  { minLength: 1, maxLength: 15 },
);

test('the mesh from which edits begin has routes of each kind of client', () => {
  const mesh = fileMesh(START);
  connect(mesh);
  const text = JSON.stringify(everything(mesh));
  for (const part of ['http.80 ', 'it is served by edge-istio', '"Accepted"', 'loadBalancer'])
    assert.ok(text.includes(part), part);
});

test('after any edits all is as in a mesh made anew', () => {
  fc.assert(
    fc.property(edits, (changes) => {
      const mesh = fileMesh(START, {}, { paranoid: true });
      connect(mesh);
      const watches = CLIENTS.flatMap(([id]) => {
        const scope = mesh.pipeline.mesh.scopeOf.get(id);
        return scope === undefined
          ? []
          : [...mesh.pipeline.resources.values()].map((all) => mesh.graph.watch(all, scope));
      });
      const statuses = STATUS_KINDS.map((kind) => mesh.graph.watch(mesh.pipeline.statuses, kind));
      const files: Record<string, string> = { ...START };
      for (const [path, text] of changes) {
        mesh.write({ [path]: text });
        if (text === undefined) delete files[path];
        else files[path] = text;
      }
      const anew = fileMesh(files);
      connect(anew);
      assert.deepEqual(everything(mesh), everything(anew));
      for (const watch of [...watches, ...statuses]) watch.stop();
    }),
    { numRuns: runs(10) },
  );
});
