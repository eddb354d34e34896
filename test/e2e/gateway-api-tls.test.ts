import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { type Certificate, TestAuthority } from '../support/certificates.ts';
import type { Echo } from '../support/echo-server.ts';
import { freePorts } from '../support/free-port.ts';
import { httpRequest } from '../support/http-client.ts';
import { TlsConnection } from '../support/tls-client.ts';
import { waitFor } from '../support/wait.ts';
import { WorkDir } from '../support/work-dir.ts';
import { gateway, grant, httpRoute, service } from './gateway-api-objects.ts';
import { LocalEcho, LocalMesh } from './local-mesh.ts';

const LISTENERS = `  listeners:
  - {name: http, port: 80, protocol: HTTP, hostname: "*.example.com"}
  - {name: own, port: 443, protocol: HTTPS, hostname: own.example.com, tls: {certificateRefs: [{name: web}]}}
  - {name: foreign, port: 443, protocol: HTTPS, hostname: foreign.example.com, tls: {certificateRefs: [{name: vault, namespace: bank}]}}
  - {name: mutual, port: 8443, protocol: HTTPS, hostname: mutual.example.com, tls: {certificateRefs: [{name: web}]}}
  tls:
    frontend:
      default: {}
      perPort:
      - port: 8443
        tls: {validation: {caCertificateRefs: [{group: "", kind: ConfigMap, name: roots}]}}
`;

function secret(name: string, namespace: string, { chain, key }: Certificate): string {
  const data = { 'tls.crt': chain, 'tls.key': key };
  const metadata = { name, namespace };
  return JSON.stringify({ apiVersion: 'v1', kind: 'Secret', metadata, type: 'kubernetes.io/tls', stringData: data });
}

function roots(name: string, pem: string): string {
  return JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { 'ca.crt': pem } });
}

function backendTls(name: string, hostname: string, authorities: string): string {
  return `---
apiVersion: gateway.networking.k8s.io/v1
kind: BackendTLSPolicy
metadata: {name: ${name}}
spec:
  targetRefs: [{group: "", kind: Service, name: ${name}}]
  validation: {hostname: ${hostname}, caCertificateRefs: [{group: "", kind: ConfigMap, name: ${authorities}}]}
`;
}

let mesh: LocalMesh;
let authority: TestAuthority;
let stranger: TestAuthority;
let ports: { readonly http: number; readonly https: number; readonly mutual: number };
const stack = new AsyncDisposableStack();

before(async () => {
  const [http = 0, https = 0, mutual = 0] = await freePorts(3);
  ports = { http, https, mutual };
  const certificates = stack.use(new WorkDir('certificates'));
  mkdirSync(certificates.at('strange'));
  authority = new TestAuthority(certificates.path);
  stranger = new TestAuthority(certificates.at('strange'));
  const { chain: cert, key } = authority.issue('DNS:inside.test');
  const inside = stack.use(await LocalEcho.start({ name: 'inside', tls: { cert, key, ca: authority.root } }));
  mesh = stack.use(
    await LocalMesh.start({
      type: 'router',
      socket: true,
      files: {
        'shop/gateway.yaml': gateway(
          [
            { name: 'http', port: 80, protocol: 'HTTP', at: http },
            { name: 'https', port: 443, protocol: 'HTTPS', at: https },
            { name: 'mutual', port: 8443, protocol: 'HTTPS', at: mutual },
          ],
          LISTENERS,
        ),
        'shop/web.json': secret('web', 'shop', authority.issue('DNS:own.example.com', 'DNS:mutual.example.com')),
        'bank/vault.json': secret('vault', 'bank', authority.issue('DNS:foreign.example.com')),
        'shop/roots.json': roots('roots', authority.root),
        'shop/strange.json': roots('strange', stranger.root),
        'shop/services.yaml': ['plain', 'inside', 'strange'].map((name) => service(name, 'shop', inside.port)).join(''),
        'shop/routes.yaml': [
          ...['own', 'foreign', 'mutual'].map((name) => httpRoute(name, '{backendRefs: [{name: plain, port: 80}]}')),
          ...['inside', 'strange'].map((name) => httpRoute(name, `{backendRefs: [{name: ${name}, port: 80}]}`)),
        ].join(''),
        'shop/policies.yaml':
          backendTls('inside', 'inside.test', 'roots') + backendTls('strange', 'inside.test', 'strange'),
      },
    }),
  );
});

after(() => stack.disposeAsync());

/** The status of an answer over TLS, or `refused` when there is no handshake. */
async function answer(host: string, client?: Certificate): Promise<number | 'refused'> {
  const to = `127.0.0.1:${host.startsWith('mutual') ? ports.mutual : ports.https}`;
  try {
    using connection = await TlsConnection.open({
      to,
      servername: host,
      roots: authority.root,
      ...(client && { client }),
    });
    return await connection.request(host);
  } catch {
    return 'refused';
  }
}

test('TLS ends at a listener with the certificate that it names', async () => {
  assert.equal(await answer('own.example.com'), 200);
  assert.equal(await answer('other.example.com'), 'refused');
});

test('a certificate of another namespace needs a grant, which may come and go', async () => {
  const until = (wanted: number | 'refused') =>
    waitFor(async () => (await answer('foreign.example.com')) === wanted, {
      what: `${wanted} with the foreign Secret`,
    });
  await until('refused');
  mesh.write('bank/grant.yaml', grant('Gateway', 'shop', 'Secret'));
  await until(200);
  mesh.write('bank/grant.yaml', '');
  await until('refused');
  assert.equal(await answer('own.example.com'), 200);
});

test('clients of a port show a certificate where the Gateway asks for one', async () => {
  assert.equal(await answer('mutual.example.com', authority.issue('DNS:client.test')), 200);
  assert.equal(await answer('mutual.example.com', stranger.issue('DNS:client.test')), 'refused');
  assert.equal(await answer('mutual.example.com'), 'refused');
});

test('a BackendTLSPolicy speaks TLS to a service, and to nobody else', async () => {
  const ask = (host: string) => httpRequest(`http://127.0.0.1:${ports.http}/`, { host: `${host}.example.com` });
  const { tls } = JSON.parse((await ask('inside')).body) as Echo;
  assert.equal(tls?.servername, 'inside.test');
  assert.equal((await ask('strange')).status, 503);
});

test('the Envoy refused nothing of all this', async () => {
  assert.equal(await mesh.envoy.rejected(), 0);
});
