import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../../src/base/json.ts';
import { type FileMesh, fileMesh } from '../../support/mesh-files.ts';

const GATEWAY = `apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge}
spec:
  gatewayClassName: istio
  addresses: [{type: Hostname, value: edge.mesh}]
  allowedListeners: {namespaces: {from: Same}}
  listeners:
  - {name: http, port: 80, protocol: HTTP}
  - {name: bad, port: 81, protocol: UDP}
`;
const SERVICE = (endpoints: string) => `apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: edge}
spec:
  hosts: [edge.mesh]
  location: MESH_INTERNAL
  resolution: STATIC
  ports: [{number: 80, name: http, protocol: HTTP}]
  endpoints: [${endpoints}]
`;
const ROUTE = `apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: web}
spec:
  parentRefs: [{name: edge, sectionName: http}, {name: edge, sectionName: nope}]
  rules: [{backendRefs: [{name: web, port: 80}]}]
`;

function statusOf(mesh: FileMesh, kind: string, key: string): JsonObject | undefined {
  return mesh.pipeline.statuses.get(kind).get(key);
}

const EDGE = 'gateway.networking.k8s.io/Gateway/shop/edge';
const WEB = 'gateway.networking.k8s.io/HTTPRoute/shop/web';

interface Conditions {
  readonly conditions: readonly { readonly type: string; readonly status: string; readonly reason: string }[];
}

/** `type status reason` of each condition. */
function conditions(status: unknown): readonly string[] {
  return (status as Conditions).conditions.map(({ type, status: holds, reason }) => `${type} ${holds} ${reason}`);
}

test('a Gateway says which of its listeners are served, by whom, and how many routes each has', () => {
  const mesh = fileMesh({
    'shop/gateway.yaml': GATEWAY,
    'shop/edge.yaml': SERVICE('{address: 10.9.0.1}'),
    'shop/route.yaml': ROUTE,
  });
  const status = statusOf(mesh, 'KubernetesGateway', EDGE);
  assert.deepEqual(conditions(status), [
    'Accepted True ListenersNotValid',
    'Programmed False AddressNotUsable',
    'ResolvedRefs True ResolvedRefs',
  ]);
  assert.deepEqual(status?.['addresses'], [{ type: 'Hostname', value: 'edge.mesh' }]);
  const [http, bad] = (status?.['listeners'] ?? []) as readonly (JsonObject & Conditions)[];
  assert.deepEqual(
    [http?.['attachedRoutes'], http?.['supportedKinds']],
    [1, ['HTTPRoute', 'GRPCRoute'].map((kind) => ({ group: 'gateway.networking.k8s.io', kind }))],
  );
  assert.deepEqual(conditions(http), [
    'Accepted True Accepted',
    'Conflicted False NoConflicts',
    'Programmed True Programmed',
    'ResolvedRefs True ResolvedRefs',
  ]);
  assert.deepEqual(conditions(bad)[0], 'Accepted False UnsupportedProtocol');
});

test('whether a Gateway is served follows its workloads', () => {
  const single = GATEWAY.replace(/ {2}- {name: bad.*\n/, '');
  const mesh = fileMesh({ 'shop/gateway.yaml': single });
  const programmed = () => conditions(statusOf(mesh, 'KubernetesGateway', EDGE))[1];
  assert.equal(programmed(), 'Programmed False AddressNotUsable');
  mesh.write({ 'shop/edge.yaml': SERVICE('') });
  assert.equal(programmed(), 'Programmed False AddressNotAssigned');
  mesh.write({ 'shop/edge.yaml': SERVICE('{address: 10.9.0.1}') });
  assert.equal(programmed(), 'Programmed True Programmed');
});

test('a route says of each parent whether it is attached, and whether its backends are there', () => {
  const mesh = fileMesh({ 'shop/gateway.yaml': GATEWAY, 'shop/route.yaml': ROUTE });
  const parents = () =>
    ((statusOf(mesh, 'HTTPRoute', WEB)?.['parents'] ?? []) as readonly JsonObject[]).map(conditions);
  assert.deepEqual(parents(), [
    ['Accepted True Accepted', 'ResolvedRefs False BackendNotFound'],
    ['Accepted False NoMatchingParent', 'ResolvedRefs False BackendNotFound'],
  ]);
  mesh.write({
    'shop/web.yaml': 'apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {ports: [{port: 80}]}\n',
  });
  assert.equal(parents()[0]?.[1], 'ResolvedRefs True ResolvedRefs');
});

test('a ListenerSet is taken where its Gateway allows it', () => {
  const set = (namespace: string) => `apiVersion: gateway.networking.k8s.io/v1
kind: ListenerSet
metadata: {name: more}
spec:
  parentRef: {name: edge, namespace: shop}
  listeners: [{name: http, port: 80, protocol: HTTP, hostname: ${namespace}.test}]
`;
  const mesh = fileMesh({
    'shop/gateway.yaml': GATEWAY,
    'shop/edge.yaml': SERVICE('{address: 10.9.0.1}'),
    'shop/set.yaml': set('shop'),
    'bank/set.yaml': set('bank'),
  });
  const of = (namespace: string) =>
    conditions(statusOf(mesh, 'ListenerSet', `gateway.networking.k8s.io/ListenerSet/${namespace}/more`));
  assert.deepEqual(of('shop'), ['Accepted True Accepted', 'Programmed True Programmed']);
  assert.deepEqual(of('bank'), ['Accepted False NotAllowed', 'Programmed False NotAllowed']);
  assert.equal(statusOf(mesh, 'KubernetesGateway', EDGE)?.['attachedListenerSets'], 1);
});

test('a Gateway that lets clients in without a certificate says so', () => {
  const validation = (mode: string) =>
    `  tls: {frontend: {default: {}, perPort: [{port: 443, tls: {validation: {mode: ${mode}, caCertificateRefs: [{group: "", kind: ConfigMap, name: c}]}}}]}}\n`;
  const insecure = (mode: string) =>
    conditions(
      statusOf(fileMesh({ 'shop/gateway.yaml': GATEWAY + validation(mode) }), 'KubernetesGateway', EDGE),
    ).filter((text) => text.startsWith('Insecure'));
  assert.deepEqual(insecure('AllowValidOnly'), []);
  assert.deepEqual(insecure('AllowInsecureFallback'), ['InsecureFrontendValidationMode True ConfigurationChanged']);
});

test('a Gateway may leave TLS to its ListenerSets, which need it', () => {
  const listeners = (name: string) => `listeners: [{name: ${name}, port: 443, protocol: HTTPS}]`;
  const mesh = fileMesh({
    'shop/gateway.yaml': GATEWAY.replace(/ {2}listeners:.*/s, `  ${listeners('whole')}\n`),
    'shop/set.yaml': `apiVersion: gateway.networking.k8s.io/v1
kind: ListenerSet
metadata: {name: more}
spec: {parentRef: {name: edge}, ${listeners('part').replace('443', '8443')}}
`,
  });
  const listener = (status: JsonObject | undefined) =>
    conditions(((status?.['listeners'] ?? []) as readonly JsonObject[])[0]).filter((text) =>
      /^(Accepted|Programmed)/.test(text),
    );
  assert.deepEqual(listener(statusOf(mesh, 'KubernetesGateway', EDGE)), [
    'Accepted True Accepted',
    'Programmed True Programmed',
  ]);
  assert.deepEqual(listener(statusOf(mesh, 'ListenerSet', 'gateway.networking.k8s.io/ListenerSet/shop/more')), [
    'Accepted False UnsupportedProtocol',
    'Programmed False Invalid',
  ]);
  assert.deepEqual(
    mesh.findings().flatMap(({ severity, message }) => (message.includes('needs "tls"') ? [severity] : [])),
    ['warning', 'error'],
  );
});

test('of two policies for a service the older one holds, unless it says that it is to be ignored', () => {
  const policy = (name: string, annotations: string) => `apiVersion: gateway.networking.k8s.io/v1
kind: BackendTLSPolicy
metadata: {name: ${name}, annotations: ${annotations}}
spec:
  targetRefs: [{group: "", kind: Service, name: web}]
  validation: {hostname: ${name}.test, wellKnownCACertificates: System}
`;
  const mesh = fileMesh({
    'shop/web.yaml': 'apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {ports: [{port: 80}]}\n',
    'shop/a.yaml': policy('a', '{}'),
    'shop/b.yaml': policy('b', '{}'),
  });
  const of = (name: string) => {
    const status = statusOf(mesh, 'BackendTLSPolicy', `gateway.networking.k8s.io/BackendTLSPolicy/shop/${name}`);
    return ((status?.['ancestors'] ?? []) as readonly JsonObject[]).map(conditions);
  };
  const sni = () =>
    mesh.pipeline.mesh.keysOf('DestinationRule').map((key) => JSON.stringify(mesh.pipeline.mesh.config(key)));
  assert.deepEqual(of('b'), [['Accepted False Conflicted', 'ResolvedRefs True ResolvedRefs']]);
  assert.match(sni().join(), /a\.test/);
  mesh.write({ 'shop/a.yaml': policy('a', '{istio.io/ignore-policy-attachment: "true"}') });
  assert.deepEqual(
    [of('a'), of('b')],
    [[['Accepted False IgnoredByIstio']], [['Accepted True Accepted', 'ResolvedRefs True ResolvedRefs']]],
  );
  assert.match(sni().join(), /b\.test/);
});

test('a policy names the Gateways from which its services are reached', () => {
  const mesh = fileMesh({
    'shop/gateway.yaml': GATEWAY,
    'shop/route.yaml': ROUTE,
    'shop/web.yaml': 'apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {ports: [{port: 80}]}\n',
    'shop/policy.yaml': `apiVersion: gateway.networking.k8s.io/v1
kind: BackendTLSPolicy
metadata: {name: tls}
spec:
  targetRefs: [{group: "", kind: Service, name: web}]
  validation: {hostname: web.test, wellKnownCACertificates: System}
`,
  });
  const ancestors = () => {
    const status = statusOf(mesh, 'BackendTLSPolicy', 'gateway.networking.k8s.io/BackendTLSPolicy/shop/tls');
    return ((status?.['ancestors'] ?? []) as readonly JsonObject[]).map((one) => [
      one['ancestorRef'],
      ...conditions(one),
    ]);
  };
  const inForce = ['Accepted True Accepted', 'ResolvedRefs True ResolvedRefs'];
  const service = { group: '', kind: 'Service', name: 'web' };
  const gateway = { group: 'gateway.networking.k8s.io', kind: 'Gateway', namespace: 'shop', name: 'edge' };
  assert.deepEqual(ancestors(), [
    [service, ...inForce],
    [gateway, ...inForce],
  ]);
  mesh.write({ 'shop/route.yaml': ROUTE.replace('{name: web, port', '{name: other, port') });
  assert.deepEqual(ancestors(), [[service, ...inForce]]);
});

test('what somebody else serves has no status here, and what is of another place has the one that it is given', () => {
  const of = (className: string) =>
    statusOf(fileMesh({ 'shop/gateway.yaml': GATEWAY.replace('istio', className) }), 'KubernetesGateway', EDGE);
  assert.equal(of('nginx'), undefined);
  assert.deepEqual(conditions(of('istio-remote')), ['Accepted True Accepted', 'Programmed True Programmed']);
});

test('an Ingress says where it is reached', () => {
  const mesh = fileMesh({
    'mesh.yaml': 'ingressControllerMode: DEFAULT\n',
    'istio-system/gw.yaml':
      'apiVersion: v1\nkind: Service\nmetadata: {name: istio-ingressgateway}\nspec: {type: LoadBalancer, ports: [{port: 80}]}\nstatus: {loadBalancer: {ingress: [{ip: 192.0.2.1}]}}\n',
    'shop/i.yaml':
      'apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: i}\nspec: {rules: [{host: a.test}]}\n',
  });
  assert.deepEqual(statusOf(mesh, 'Ingress', 'networking.k8s.io/Ingress/shop/i'), {
    loadBalancer: { ingress: [{ ip: '192.0.2.1' }] },
  });
});
