import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { freePorts } from '../support/free-port.ts';
import { HttpBackend } from '../support/http-backend.ts';
import { httpRequest } from '../support/http-client.ts';
import { waitFor } from '../support/wait.ts';
import { service } from './gateway-api-objects.ts';
import { LocalMesh } from './local-mesh.ts';

const CLASS = 'ingressControllerMode: STRICT\ningressClass: istio\n';

/** @param paths one a line, in YAML, with the port of their service by name */
function ingress(name: string, host: string, paths: readonly string[], className = 'istio'): string {
  return `---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: ${name}, namespace: shop}
spec:
  ingressClassName: ${className}
  rules:
  - host: ${host}
    http:
      paths:
${paths.map((path) => `      - ${path}\n`).join('')}`;
}

const to = (name: string) => `backend: {service: {name: ${name}, port: {name: http}}}`;

function gateway(port: number): string {
  return `apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: ingress}
spec:
  hosts: [ingress.mesh.internal]
  addresses: [10.30.0.2]
  location: MESH_INTERNAL
  resolution: STATIC
  ports: [{number: 80, name: http, protocol: HTTP, targetPort: ${port}}]
  endpoints: [{address: 127.0.0.1, labels: {istio: ingressgateway}}]
---
apiVersion: networking.istio.io/v1alpha3
kind: EnvoyFilter
metadata: {name: loopback}
spec:
  configPatches:
  - applyTo: LISTENER
    match: {context: GATEWAY}
    patch: {operation: MERGE, value: {address: {socket_address: {address: 127.0.0.1}}}}
---
apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata: {name: istio}
spec: {controller: istio.io/ingress-controller}
`;
}

let mesh: LocalMesh;
let port = 0;
const stack = new AsyncDisposableStack();

before(async () => {
  [port = 0] = await freePorts(1);
  const [a, b] = await Promise.all(['a', 'b'].map((name) => HttpBackend.start(name)));
  assert.ok(a && b);
  for (const backend of [a, b]) stack.defer(() => backend.stop());
  mesh = stack.use(
    await LocalMesh.start({
      type: 'router',
      namespace: 'istio-system',
      labels: { istio: 'ingressgateway' },
      mesh: CLASS,
      files: {
        'istio-system/gateway.yaml': gateway(port),
        'shop/services.yaml': service('a', 'shop', a.port) + service('b', 'shop', b.port),
        'shop/paths.yaml': ingress('paths', 'paths.test', [
          `{path: /, pathType: Prefix, ${to('b')}}`,
          `{path: /exact, pathType: Exact, ${to('a')}}`,
          `{path: /part, pathType: Prefix, ${to('a')}}`,
          `{path: /loose/*, pathType: ImplementationSpecific, ${to('a')}}`,
        ]),
        'shop/other.yaml': ingress('other', 'other.test', [`{path: /, pathType: Prefix, ${to('a')}}`], 'nginx'),
      },
    }),
  );
});

after(() => stack.disposeAsync());

/** Who answers, or the status where nobody does. */
async function answerer(host: string, path: string): Promise<string> {
  const { status, body } = await httpRequest(`http://127.0.0.1:${port}${path}`, { host });
  return status === 200 ? body : String(status);
}

test('paths are told apart: exact ones, whole parts, and what begins so', async () => {
  const answers = ['/', '/exact', '/exact/more', '/part', '/part/more', '/parts', '/loose/more'].map((path) =>
    answerer('paths.test', path),
  );
  assert.deepEqual(await Promise.all(answers), ['b', 'a', 'b', 'a', 'a', 'b', 'a']);
  assert.equal(await answerer('unknown.test', '/'), '404');
});

test('an Ingress of another class is not served, until it is of ours', async () => {
  assert.equal(await answerer('other.test', '/'), '404');
  mesh.write('shop/other.yaml', ingress('other', 'other.test', [`{path: /, pathType: Prefix, ${to('a')}}`]));
  await waitFor(async () => (await answerer('other.test', '/')) === 'a', { what: 'answer of the Ingress' });
});

test('an edit of an Ingress is followed', async () => {
  mesh.write('shop/other.yaml', ingress('other', 'other.test', [`{path: /, pathType: Prefix, ${to('b')}}`]));
  await waitFor(async () => (await answerer('other.test', '/')) === 'b', { what: 'answer of the other service' });
});

test('the Envoy refused nothing of all this', async () => {
  assert.equal(await mesh.envoy.rejected(), 0);
});
