import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Variant } from '../../src/xds/events.ts';
import { TestAuthority } from '../support/certificates.ts';
import type { Echo } from '../support/echo-server.ts';
import { freePorts } from '../support/free-port.ts';
import { type Probe, probe } from '../support/probe.ts';
import { WorkDir } from '../support/work-dir.ts';
import { LocalEcho, LocalMesh, localService } from './local-mesh.ts';

const TIMEOUT_MS = 60_000;

async function asked(sent: Probe): Promise<Echo> {
  const { status, body } = await probe(sent);
  assert.ok(status === 200 || status === 0, `${status} ${body}`);
  return JSON.parse(body) as Echo;
}

async function kindsOfTraffic(version: string, variant: Variant): Promise<void> {
  using certificates = new WorkDir('certificates');
  const authority = new TestAuthority(certificates.path);
  const { chain: cert, key } = authority.issue('DNS:server.test');
  const tls = { cert, key, ca: authority.root };
  using web = await LocalEcho.start({ name: 'web' });
  using admin = await LocalEcho.start({ name: 'admin' });
  using store = await LocalEcho.start({ name: 'store' });
  using one = await LocalEcho.start({ name: 'one', tls });
  using two = await LocalEcho.start({ name: 'two', tls });
  const [http = 0, http2 = 0, tcp = 0, sni = 0] = await freePorts(4);
  await using mesh = await LocalMesh.start({
    version,
    variant,
    files: {
      'shop/services.yaml': [
        localService('web', http, web.port, 'HTTP'),
        localService('admin', http, admin.port, 'HTTP'),
        localService('calls', http2, web.port, 'GRPC'),
        localService('store', tcp, store.port, 'TCP'),
        localService('one', sni, one.port, 'TLS'),
        localService('two', sni, two.port, 'TLS'),
      ].join(''),
      'shop/routes.yaml': `
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: web}
spec:
  hosts: [web.shop.internal]
  http:
  - match: [{uri: {prefix: /admin}}]
    rewrite: {uri: /}
    route: [{destination: {host: admin.shop.internal}, headers: {request: {set: {x-by: route}}}}]
  - route: [{destination: {host: web.shop.internal}}]
---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: one}
spec:
  hosts: [one.shop.internal]
  tls:
  - match: [{port: ${sni}, sniHosts: [one.shop.internal]}]
    route: [{destination: {host: two.shop.internal, port: {number: ${sni}}}}]
`,
    },
  });

  const toWeb = { to: `127.0.0.1:${http}`, host: 'web.shop.internal' };
  const plain = await asked({ ...toWeb, path: '/a' });
  assert.deepEqual([plain.backend, plain.path, plain.protocol], ['web', '/a', 'http/1.1']);
  const routed = await asked({ ...toWeb, path: '/admin' });
  assert.deepEqual([routed.backend, routed.path, routed.headers?.['x-by']], ['admin', '/', 'route']);

  const call = await asked({ to: `127.0.0.1:${http2}`, host: 'calls.shop.internal', protocol: 'h2' });
  assert.deepEqual([call.backend, call.protocol], ['web', 'h2']);

  const line = await asked({ to: `127.0.0.1:${tcp}`, protocol: 'tcp' });
  assert.deepEqual([line.backend, line.text], ['store', 'hello\n']);

  for (const [servername, backend] of [
    ['one.shop.internal', 'two'],
    ['two.shop.internal', 'two'],
  ] as const) {
    const secret = await asked({ to: `127.0.0.1:${sni}`, host: servername, tls: { servername } });
    assert.deepEqual([secret.backend, secret.tls?.servername], [backend, servername]);
  }
  assert.equal(await mesh.envoy.rejected(), 0);
}

for (const variant of ['delta', 'sotw'] as const) {
  test(`HTTP/1.1, HTTP/2, TCP and TLS go through an upstream Envoy, ${variant}`, { timeout: TIMEOUT_MS }, () =>
    kindsOfTraffic('1.40.0', variant),
  );
}

test('HTTP/1.1, HTTP/2, TCP and TLS go through Envoy 1.36', { timeout: TIMEOUT_MS }, () =>
  kindsOfTraffic('1.36.4', 'delta'),
);
