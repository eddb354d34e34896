import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatDiagnostic } from '../../../src/base/diagnostic.ts';
import { type FileMesh, fileMesh } from '../../support/mesh-files.ts';

const GATEWAY = `apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge}
spec:
  gatewayClassName: istio
  listeners:
  - name: http
    port: 80
    protocol: HTTP
    hostname: "*.example.com"
---
apiVersion: v1
kind: Service
metadata: {name: edge-istio}
spec: {clusterIP: 10.96.0.1, ports: [{name: http, port: 80}]}
`;

const WEB = (namespace: string) => `apiVersion: v1
kind: Service
metadata: {name: web, namespace: ${namespace}}
spec: {clusterIP: 10.96.0.2, ports: [{name: http, port: 80}]}
`;

const route = (parent: string, rest: string, kind = 'HTTPRoute') => `apiVersion: gateway.networking.k8s.io/v1
kind: ${kind}
metadata: {name: r}
spec:
  parentRefs:
  - ${parent}
${rest}`;

const TO_WEB = '  rules:\n  - backendRefs:\n    - {name: web, port: 80}\n';

/** `line severity CODE path: message` of a file. */
function findings(mesh: FileMesh, file: string): readonly string[] {
  return mesh
    .findings()
    .map(formatDiagnostic)
    .flatMap((line) => (line.includes(file) ? [line.slice(line.indexOf(file) + file.length + 1)] : []));
}

function findingsOf(text: string, more: Readonly<Record<string, string>> = {}): readonly string[] {
  return findings(
    fileMesh({ 'shop/gateway.yaml': GATEWAY, 'shop/web.yaml': WEB('shop'), 'shop/r.yaml': text, ...more }),
    'shop/r.yaml',
  );
}

function assertOnly(found: readonly string[], expected: RegExp): void {
  assert.equal(found.length, 1, found.join('\n'));
  assert.match(found[0] ?? '', expected);
}

test('a route that is served gives no findings', () => {
  assert.deepEqual(findingsOf(route('{name: edge}', TO_WEB)), []);
});

test('a parent that is not there is found at the reference', () => {
  assertOnly(
    findingsOf(route('{name: egde}', TO_WEB)),
    /^6:5: error VM0302: spec.parentRefs\[0\]: there is no Gateway "shop\/egde"/,
  );
  assertOnly(findingsOf(route('{name: edge, sectionName: https}', TO_WEB)), /VM0302: .*no listener "https"/);
  assertOnly(findingsOf(route('{name: edge, port: 81}', TO_WEB)), /VM0302: .*port 81/);
});

test('of the reasons why no listener takes a route the nearest is told', () => {
  const hostnames = '  hostnames: [shop.test]\n';
  assertOnly(findingsOf(route('{name: edge}', hostnames + TO_WEB)), /VM0302: .*serves "\*.example.com"/);
  assertOnly(findingsOf(route('{name: edge}', TO_WEB, 'TCPRoute')), /VM0302: .*takes no TCPRoute/);
  const other = route('{name: edge, namespace: shop}', TO_WEB);
  const mesh = fileMesh({ 'shop/gateway.yaml': GATEWAY, 'bank/web.yaml': WEB('bank'), 'bank/r.yaml': other });
  assertOnly(findings(mesh, 'bank/r.yaml'), /VM0302: .*no routes of the namespace bank: see its "allowedRoutes"/);
});

test('a backend that is not there, or not permitted, is found at its reference', () => {
  const to = (backend: string) => route('{name: edge}', `  rules:\n  - backendRefs:\n    - ${backend}\n`);
  assertOnly(
    findingsOf(to('{name: wbe, port: 80}')),
    /^9:7: error VM0301: spec.rules\[0\].backendRefs\[0\]: there is no Service "shop\/wbe"/,
  );
  assertOnly(findingsOf(to('{kind: Bucket, name: b, port: 80}')), /VM0301: .*to a Bucket/);
  const foreign = { 'bank/web.yaml': WEB('bank') };
  const denied = findingsOf(to('{name: web, namespace: bank, port: 80}'), foreign);
  assertOnly(denied, /VM0301: .*write a ReferenceGrant in bank from HTTPRoute in shop to Service/);
  const grant = (from: string) => `apiVersion: gateway.networking.k8s.io/v1beta1
kind: ReferenceGrant
metadata: {name: g}
spec:
  from: [{group: gateway.networking.k8s.io, kind: HTTPRoute, namespace: ${from}}]
  to: [{group: "", kind: Service, name: web}]
`;
  const granted = { ...foreign, 'bank/grant.yaml': grant('shop') };
  assert.deepEqual(findingsOf(to('{name: web, namespace: bank, port: 80}'), granted), []);
  const elsewhere = { ...foreign, 'bank/grant.yaml': grant('other') };
  assert.equal(findingsOf(to('{name: web, namespace: bank, port: 80}'), elsewhere).length, 1);
});

test('a finding goes when what it is about comes', () => {
  const mesh = fileMesh({ 'shop/gateway.yaml': GATEWAY, 'shop/r.yaml': route('{name: edge}', TO_WEB) });
  assertOnly(findings(mesh, 'shop/r.yaml'), /no Service "shop\/web"/);
  mesh.write({ 'shop/web.yaml': WEB('shop') });
  assert.deepEqual(findings(mesh, 'shop/r.yaml'), []);
});

test('a filter that there is not keeps a route from being taken, and is found', () => {
  const filters = '    filters:\n    - {type: ExtensionRef, extensionRef: {group: g, kind: Lua, name: mine}}\n';
  assertOnly(
    findingsOf(route('{name: edge}', TO_WEB + filters)),
    /error VM0304: spec.rules\[0\].filters\[0\].type: there is no such filter/,
  );
});

test('a Gateway that nobody serves is told why', () => {
  const gateway = (spec: string) => `apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: g}
spec:
  ${spec}
  listeners: [{name: http, port: 80, protocol: HTTP}]
`;
  const of = (spec: string) => findings(fileMesh({ 'shop/g.yaml': gateway(spec) }), 'shop/g.yaml');
  assertOnly(
    of('gatewayClassName: istio'),
    /^5:\d+: error VM0301: spec.gatewayClassName: .*"g-istio.shop.svc.cluster.local"/,
  );
  assertOnly(of('gatewayClassName: nginx'), /VM0301: spec.gatewayClassName: there is no GatewayClass "nginx"/);
});

test('listeners that are at odds, and certificates that are not there, are found at the listener', () => {
  const mesh = fileMesh({
    'shop/edge.yaml': WEB('shop').replace('name: web', 'name: g-istio'),
    'shop/g.yaml': `apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: g}
spec:
  gatewayClassName: istio
  listeners:
  - {name: a, port: 80, protocol: HTTP}
  - {name: b, port: 80, protocol: TCP}
  - {name: c, port: 443, protocol: HTTPS, tls: {certificateRefs: [{name: missing}]}}
  - {name: d, port: 53, protocol: UDP}
  - {name: e, port: 81, protocol: HTTP, allowedRoutes: {kinds: [{kind: TCPRoute}]}}
`,
  });
  const found = findings(mesh, 'shop/g.yaml').map((line) => line.replace(/^(\d+):\d+/, '$1'));
  const expected = [
    /^8: error VM0303: spec.listeners\[1\]: .*listener "a" of Gateway shop\/g/,
    /^9: error VM0301: spec.listeners\[2\].tls.certificateRefs\[0\]: there is no Secret "shop\/missing"/,
    /^10: error VM0303: spec.listeners\[3\].protocol: protocol "UDP"/,
    /^11: error VM0303: spec.listeners\[4\].allowedRoutes.kinds/,
  ];
  assert.equal(found.length, expected.length, found.join('\n'));
  for (const [i, pattern] of expected.entries()) assert.match(found[i] ?? '', pattern);
});

test('what an Ingress asks for in vain is found, and nothing of one that somebody else serves', () => {
  const ingress = (className: string) => `apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: i}
spec:
  ingressClassName: ${className}
  defaultBackend: {service: {name: web, port: {number: 80}}}
  rules:
  - http:
      paths:
      - {path: /a, pathType: Prefix, backend: {service: {name: web, port: {name: nope}}}}
`;
  const more = (controller: string) => ({
    'mesh.yaml': 'ingressControllerMode: STRICT\n',
    'shop/class.yaml': `apiVersion: networking.k8s.io/v1\nkind: IngressClass\nmetadata: {name: mine}\nspec: {controller: ${controller}}\n`,
  });
  const found = findingsOf(ingress('mine'), more('istio.io/ingress-controller'));
  assert.equal(found.length, 2, found.join('\n'));
  assert.match(found[0] ?? '', /^6:\d+: warning VM0304: spec.defaultBackend/);
  assert.match(found[1] ?? '', /^10:\d+: error VM0301: .*no port "nope" of Service shop\/web/);
  assert.deepEqual(findingsOf(ingress('mine'), more('nginx.org/c')), []);
});
