import assert from 'node:assert/strict';
import { createServer as createHttpServer, request } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import type { AddressInfo, Server } from 'node:net';
import { after, before, test } from 'node:test';
import { freePorts } from '../support/free-port.ts';
import { HttpBackend } from '../support/http-backend.ts';
import { type HttpAnswer, type HttpRequest, httpRequest } from '../support/http-client.ts';
import { waitFor } from '../support/wait.ts';
import { gateway, httpRoute, route, service } from './gateway-api-objects.ts';
import { LocalMesh } from './local-mesh.ts';

/** What else the standard channel has for an HTTPRoute, and where routes attach. */
const TO_A = 'backendRefs: [{name: a, port: 80}]';
const TO_B = 'backendRefs: [{name: b, port: 80}]';

const redirect = (path: string, what: string): string =>
  `{matches: [{path: {value: /${path}}}], filters: [{type: RequestRedirect, requestRedirect: {${what}}}]}`;
const mirror = (to: string, share = ''): string =>
  `{type: RequestMirror, requestMirror: {backendRef: {name: ${to}, port: 80}${share}}}`;

const ROUTES = [
  httpRoute(
    'redirects',
    redirect('port', 'port: 8443'),
    redirect('scheme', 'scheme: https'),
    redirect('host', 'hostname: other.example.com'),
    ...[303, 307, 308].map((status) => redirect(String(status), `hostname: other.example.com, statusCode: ${status}`)),
  ),
  httpRoute(
    'mirrors',
    `{matches: [{path: {value: /both}}], filters: [${mirror('b')}, ${mirror('c')}], ${TO_A}}`,
    `{matches: [{path: {value: /percent}}], filters: [${mirror('b', ', percent: 0')}], ${TO_A}}`,
    `{matches: [{path: {value: /half}}], filters: [${mirror('b', ', fraction: {numerator: 1, denominator: 2}')}], ${TO_A}}`,
  ),
  httpRoute('h2c', '{backendRefs: [{name: h2c, port: 80}]}'),
  httpRoute('socket', '{backendRefs: [{name: socket, port: 80}]}'),
  httpRoute('named', `{name: by-name, ${TO_A}}`),
  route('HTTPRoute', 'second-port', `  hostnames: [port.example.com]\n  rules: [{${TO_A}}]\n`, {
    parent: '{name: edge, port: 8080}',
  }),
  route('HTTPRoute', 'section', `  hostnames: [section.example.com]\n  rules: [{${TO_A}}]\n`, {
    parent: '{name: edge, sectionName: second}',
  }),
  // The listener of the longer host alone has what is below it, whatever the other one has.
  route('HTTPRoute', 'wide', `  rules: [{${TO_A}}]\n`, { parent: '{name: edge, sectionName: wide}' }),
  route('HTTPRoute', 'narrow', `  rules: [{${TO_B}}]\n`, { parent: '{name: edge, sectionName: narrow}' }),
  route('HTTPRoute', 'stranger', `  hostnames: [stranger.example.com]\n  rules: [{${TO_A}}]\n`, {
    namespace: 'bank',
    parent: '{name: edge, namespace: shop, sectionName: first}',
  }),
  route(
    'HTTPRoute',
    'guest',
    '  hostnames: [guest.example.com]\n  rules: [{backendRefs: [{name: vault, port: 80}]}]\n',
    {
      namespace: 'guests',
      parent: '{name: edge, namespace: shop, sectionName: second}',
    },
  ),
].join('');

const LISTENERS = `  listeners:
  - {name: first, port: 80, protocol: HTTP, hostname: "*.example.com"}
  - {name: wide, port: 80, protocol: HTTP, hostname: "*.wide.test"}
  - {name: narrow, port: 80, protocol: HTTP, hostname: "*.narrow.wide.test"}
  - {name: second, port: 8080, protocol: HTTP, allowedRoutes: {namespaces: {from: Selector, selector: {matchLabels: {guests: welcome}}}}}
`;

const NAMESPACES = `---
apiVersion: v1
kind: Namespace
metadata: {name: guests, labels: {guests: welcome}}
---
apiVersion: v1
kind: Namespace
metadata: {name: shop, labels: {guests: welcome}}
`;

let mesh: LocalMesh;
let first = 0;
let second = 0;
let b: HttpBackend;
let c: HttpBackend;
const stack = new AsyncDisposableStack();

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stack.defer(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** Speaks HTTP/2 without TLS, and nothing else. */
function http2Backend(): Promise<number> {
  return listening(createHttp2Server((asked, answer) => answer.end(asked.httpVersion)));
}

/** Agrees to be a WebSocket, and says what it hears. */
function socketBackend(): Promise<number> {
  const server = createHttpServer((_, answer) => answer.writeHead(426).end());
  server.on('upgrade', (_, socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n');
    socket.pipe(socket);
  });
  return listening(server);
}

before(async () => {
  [first = 0, second = 0] = await freePorts(2);
  const a = stack.use(await HttpBackend.start('a'));
  b = stack.use(await HttpBackend.start('b'));
  c = stack.use(await HttpBackend.start('c'));
  mesh = stack.use(
    await LocalMesh.start({
      type: 'router',
      files: {
        'shop/gateway.yaml': gateway(
          [
            { name: 'http', port: 80, protocol: 'HTTP', at: first },
            { name: 'http-second', port: 8080, protocol: 'HTTP', at: second },
          ],
          LISTENERS,
        ),
        'shop/namespaces.yaml': NAMESPACES,
        'shop/services.yaml': [
          service('a', 'shop', a.port),
          service('b', 'shop', b.port),
          service('c', 'shop', c.port),
          service('h2c', 'shop', await http2Backend(), { appProtocol: 'kubernetes.io/h2c' }),
          service('socket', 'shop', await socketBackend(), { appProtocol: 'kubernetes.io/ws' }),
          service('vault', 'guests', a.port),
        ].join(''),
        'shop/routes.yaml': ROUTES,
      },
    }),
  );
});

after(() => stack.disposeAsync());

function ask(host: string, path: string, options: HttpRequest & { readonly port?: number } = {}): Promise<HttpAnswer> {
  return httpRequest(`http://127.0.0.1:${options.port ?? first}${path}`, { host, ...options });
}

async function answerer(host: string, port?: number): Promise<string> {
  const { status, body } = await ask(host, '/', port === undefined ? {} : { port });
  return status === 200 ? body : String(status);
}

test('a redirect changes what it says and nothing else', async () => {
  const to = async (path: string): Promise<readonly unknown[]> => {
    const { status, headers } = await ask('redirects.example.com', `/${path}/x?q=1`);
    return [status, headers.location];
  };
  assert.deepEqual(await to('port'), [302, 'http://redirects.example.com:8443/port/x?q=1']);
  assert.deepEqual(await to('scheme'), [302, 'https://redirects.example.com/scheme/x?q=1']);
  assert.deepEqual(await to('host'), [302, 'http://other.example.com/host/x?q=1']);
  for (const status of [303, 307, 308]) {
    assert.deepEqual(await to(String(status)), [status, `http://other.example.com/${status}/x?q=1`]);
  }
});

test('several mirrors have a copy each, or a share of them', async () => {
  assert.equal((await ask('mirrors.example.com', '/both')).body, 'a');
  for (const mirrored of [b, c]) {
    await waitFor(() => mirrored.requests.some(({ url }) => url === '/both'), { what: `copy at ${mirrored.name}` });
  }
  b.requests.splice(0);
  for (let i = 0; i < 30; i++) await ask('mirrors.example.com', '/percent');
  for (let i = 0; i < 200; i++) await ask('mirrors.example.com', '/half');
  // Copies may come after answers: the last ones are awaited by asking for one that always comes.
  await ask('mirrors.example.com', '/both');
  await waitFor(() => b.requests.some(({ url }) => url === '/both'), { what: 'the last copy' });
  const count = (path: string): number => b.requests.filter(({ url }) => url === path).length;
  assert.equal(count('/percent'), 0);
  assert.ok(count('/half') > 60 && count('/half') < 140, `${count('/half')} of 200`);
});

test('a backend is spoken to in the protocol of its port', async () => {
  assert.equal((await ask('h2c.example.com', '/')).body, '2.0');
  const heard = await new Promise<string>((resolve, reject) => {
    const asked = request({
      host: '127.0.0.1',
      port: first,
      path: '/',
      headers: { host: 'socket.example.com', connection: 'Upgrade', upgrade: 'websocket' },
    });
    asked.on('upgrade', (_, socket) => {
      socket.once('data', (bytes: Uint8Array) => {
        socket.destroy();
        resolve(String(bytes));
      });
      socket.write('hello');
    });
    asked.on('response', ({ statusCode }) => reject(new Error(`${statusCode}`)));
    asked.on('error', reject);
    asked.end();
  });
  assert.equal(heard, 'hello');
});

test('a route attaches to the port or the listener that it names', async () => {
  assert.equal(await answerer('named.example.com'), 'a');
  for (const name of ['port', 'section']) {
    assert.equal(await answerer(`${name}.example.com`, second), 'a');
    assert.equal(await answerer(`${name}.example.com`, first), '404');
  }
});

test('of listeners on a port the one with the longest host has a request', async () => {
  assert.equal(await answerer('x.wide.test'), 'a');
  assert.equal(await answerer('x.narrow.wide.test'), 'b');
  assert.equal(await answerer('x.elsewhere.test'), '404');
});

test('a listener takes routes of the namespaces that it allows', async () => {
  assert.equal(await answerer('stranger.example.com'), '404');
  assert.equal(await answerer('guest.example.com', second), 'a');
  mesh.write('shop/namespaces.yaml', NAMESPACES.replace('{name: guests, labels: {guests: welcome}}', '{name: guests}'));
  await waitFor(async () => (await answerer('guest.example.com', second)) === '404', { what: 'end of the permission' });
});

test('the Envoy refused nothing of all this', async () => {
  assert.equal(await mesh.envoy.rejected(), 0);
});

test('sidecars route by what has a Service for its parent', async () => {
  await using mine = new AsyncDisposableStack();
  const [port = 0] = await freePorts(1);
  const [v1, v2] = [mine.use(await HttpBackend.start('v1')), mine.use(await HttpBackend.start('v2'))];
  const parent = `{group: "", kind: Service, name: web, port: ${port}}`;
  const to = (name: string): string => `backendRefs: [{name: ${name}, port: ${port}}]`;
  const rules = `  rules:
  - {matches: [{headers: [{name: x-version, value: "2"}]}], filters: [{type: ResponseHeaderModifier, responseHeaderModifier: {set: [{name: x-by, value: route}]}}], ${to('web-v2')}}
  - {${to('web')}}
`;
  const sidecar = mine.use(
    await LocalMesh.start({
      ip: '192.0.2.1',
      files: {
        // What is headless is called at the addresses of its endpoints.
        'shop/services.yaml': [
          service('web', 'shop', v1.port, { port, clusterIP: '10.96.0.1' }),
          service('web-v2', 'shop', v2.port, { port, clusterIP: '10.96.0.2' }),
        ].join(''),
        'shop/route.yaml': route('HTTPRoute', 'web', rules, { parent }),
      },
    }),
  );
  const asked = (headers: Readonly<Record<string, string>> = {}): Promise<HttpAnswer> =>
    httpRequest(`http://127.0.0.1:${port}/`, { host: 'web.shop.svc.cluster.local', headers });
  assert.equal((await asked()).body, 'v1');
  const { body, headers } = await asked({ 'x-version': '2' });
  assert.deepEqual([body, headers['x-by']], ['v2', 'route']);
  assert.equal(await sidecar.envoy.rejected(), 0);
});
