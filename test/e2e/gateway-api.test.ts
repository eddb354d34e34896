import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { TestAuthority } from '../support/certificates.ts';
import type { Echo } from '../support/echo-server.ts';
import { freePorts } from '../support/free-port.ts';
import { HttpBackend } from '../support/http-backend.ts';
import { type HttpAnswer, type HttpRequest, httpRequest } from '../support/http-client.ts';
import { probe } from '../support/probe.ts';
import { waitFor } from '../support/wait.ts';
import { WorkDir } from '../support/work-dir.ts';
import { gateway, grant, httpRoute, route, service } from './gateway-api-objects.ts';
import { LocalEcho, LocalMesh } from './local-mesh.ts';

const A = '{name: a, port: 80}';
const B = '{name: b, port: 80}';

const ROUTES = [
  httpRoute(
    'matches',
    `{matches: [{path: {type: Exact, value: /same}}], backendRefs: [${A}]}`,
    `{matches: [{path: {value: /same}}], backendRefs: [${B}]}`,
    `{matches: [{headers: [{name: x-who, value: a}]}, {queryParams: [{name: who, value: a}]}, {method: PUT}], backendRefs: [${A}]}`,
    `{matches: [{path: {value: /both}, headers: [{name: x-one, value: "1"}, {type: RegularExpression, name: x-two, value: "2+"}]}], backendRefs: [${A}]}`,
    `{backendRefs: [${B}]}`,
  ),
  httpRoute('expressions', `{matches: [{path: {type: RegularExpression, value: "/n[0-9]+"}}], backendRefs: [${A}]}`),
  httpRoute(
    'weights',
    `{backendRefs: [{name: a, port: 80, weight: 3}, {name: b, port: 80, weight: 1}, {name: c, port: 80, weight: 0}]}`,
  ),
  httpRoute(
    'headers',
    `{filters: [{type: RequestHeaderModifier, requestHeaderModifier: {set: [{name: x-set, value: new}], add: [{name: x-add, value: more}], remove: [x-gone]}}, {type: ResponseHeaderModifier, responseHeaderModifier: {set: [{name: x-backend, value: hidden}], add: [{name: x-more, value: "1"}]}}], backendRefs: [{name: a, port: 80, filters: [{type: RequestHeaderModifier, requestHeaderModifier: {set: [{name: x-for, value: a}]}}]}]}`,
  ),
  httpRoute(
    'redirects',
    '{matches: [{path: {value: /whole}}], filters: [{type: RequestRedirect, requestRedirect: {scheme: https, hostname: other.example.com, port: 8443, statusCode: 301, path: {type: ReplaceFullPath, replaceFullPath: /there}}}]}',
    '{matches: [{path: {value: /old}}], filters: [{type: RequestRedirect, requestRedirect: {path: {type: ReplacePrefixMatch, replacePrefixMatch: /new}}}]}',
  ),
  httpRoute(
    'rewrites',
    `{matches: [{path: {value: /cut}}], filters: [{type: URLRewrite, urlRewrite: {hostname: inside.test, path: {type: ReplacePrefixMatch, replacePrefixMatch: /}}}], backendRefs: [${A}]}`,
    `{matches: [{path: {value: /prefix}}], filters: [{type: URLRewrite, urlRewrite: {path: {type: ReplacePrefixMatch, replacePrefixMatch: /v2}}}], backendRefs: [${A}]}`,
    `{matches: [{path: {value: /whole}}], filters: [{type: URLRewrite, urlRewrite: {path: {type: ReplaceFullPath, replaceFullPath: /one}}}], backendRefs: [${A}]}`,
  ),
  httpRoute('mirror', `{filters: [{type: RequestMirror, requestMirror: {backendRef: ${B}}}], backendRefs: [${A}]}`),
  httpRoute(
    'times',
    '{matches: [{path: {value: /request}}], timeouts: {request: 200ms}, backendRefs: [{name: slow, port: 80}]}',
    '{matches: [{path: {value: /try}}], timeouts: {backendRequest: 200ms}, backendRefs: [{name: slow, port: 80}]}',
  ),
  httpRoute('retries', '{retry: {codes: [503], attempts: 2, backoff: 25ms}, backendRefs: [{name: c, port: 80}]}'),
  httpRoute(
    'cors',
    `{filters: [{type: CORS, cors: {allowOrigins: ["https://*.friends.test"], allowMethods: [GET, PUT], maxAge: 60}}], backendRefs: [${A}]}`,
  ),
  httpRoute(
    'nowhere',
    `{matches: [{path: {value: /none}}]}`,
    `{matches: [{path: {value: /gone}}], backendRefs: [{name: gone, port: 80}]}`,
  ),
  httpRoute('half', `{backendRefs: [${A}, {name: gone, port: 80}]}`),
  httpRoute('foreign', '{backendRefs: [{name: vault, namespace: bank, port: 80}]}'),
  httpRoute('edited', `{backendRefs: [${A}]}`),
  route(
    'GRPCRoute',
    'calls',
    `  hostnames: [calls.example.com]
  rules:
  - {matches: [{method: {service: shop.Cart, method: Get}}], backendRefs: [${A}]}
  - {matches: [{method: {service: shop.Cart}}], backendRefs: [${B}]}
`,
  ),
  route('TLSRoute', 'tls', '  hostnames: [one.example.com]\n  rules: [{backendRefs: [{name: secret, port: 80}]}]\n'),
  route('TCPRoute', 'tcp', '  rules: [{backendRefs: [{name: plain, port: 80}]}]\n'),
].join('');

const LISTENERS = `  listeners:
  - {name: http, port: 80, protocol: HTTP, hostname: "*.example.com"}
  - {name: passed, port: 443, protocol: TLS, hostname: "*.example.com", tls: {mode: Passthrough}}
  - {name: tcp, port: 9000, protocol: TCP}
`;

let mesh: LocalMesh;
let ports: { readonly http: number; readonly tls: number; readonly tcp: number };
let a: HttpBackend;
let b: HttpBackend;
let c: HttpBackend;
const stack = new AsyncDisposableStack();

/** A server that takes requests and never answers. */
async function silent(): Promise<number> {
  const server: Server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stack.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

before(async () => {
  const [http = 0, tls = 0, tcp = 0] = await freePorts(3);
  ports = { http, tls, tcp };
  a = stack.use(await HttpBackend.start('a'));
  b = stack.use(await HttpBackend.start('b'));
  c = stack.use(await HttpBackend.start('c'));
  const vault = stack.use(await HttpBackend.start('vault'));
  const certificates = stack.use(new WorkDir('certificates'));
  const authority = new TestAuthority(certificates.path);
  const { chain: cert, key } = authority.issue('DNS:one.example.com');
  const secret = stack.use(await LocalEcho.start({ name: 'secret', tls: { cert, key, ca: authority.root } }));
  const plain = stack.use(await LocalEcho.start({ name: 'plain' }));
  mesh = stack.use(
    await LocalMesh.start({
      type: 'router',
      files: {
        'shop/gateway.yaml': gateway(
          [
            { name: 'http', port: 80, protocol: 'HTTP', at: http },
            { name: 'tls', port: 443, protocol: 'TLS', at: tls },
            { name: 'tcp', port: 9000, protocol: 'TCP', at: tcp },
          ],
          LISTENERS,
        ),
        'shop/services.yaml': [
          service('a', 'shop', a.port),
          service('b', 'shop', b.port),
          service('c', 'shop', c.port),
          service('slow', 'shop', await silent()),
          service('secret', 'shop', secret.port, { portName: 'tls' }),
          service('plain', 'shop', plain.port, { portName: 'tcp' }),
        ].join(''),
        'bank/services.yaml': service('vault', 'bank', vault.port),
        'shop/routes.yaml': ROUTES,
      },
    }),
  );
});

after(() => stack.disposeAsync());

function ask(name: string, path: string, options: HttpRequest = {}): Promise<HttpAnswer> {
  return httpRequest(`http://127.0.0.1:${ports.http}${path}`, { host: `${name}.example.com`, ...options });
}

/** Who answers. */
async function answerer(name: string, path: string, options: HttpRequest = {}): Promise<string> {
  const { status, body } = await ask(name, path, options);
  return status === 200 ? body : String(status);
}

test('paths, headers, parameters and methods decide, the most specific match first', async () => {
  assert.equal(await answerer('matches', '/same'), 'a');
  assert.equal(await answerer('matches', '/same/below'), 'b');
  assert.equal(await answerer('matches', '/sameness'), 'b');
  assert.equal(await answerer('expressions', '/n12'), 'a');
  assert.equal(await answerer('expressions', '/n12x'), '404');
  assert.equal(await answerer('matches', '/', { headers: { 'x-who': 'a' } }), 'a');
  assert.equal(await answerer('matches', '/?who=a'), 'a');
  assert.equal(await answerer('matches', '/', { method: 'PUT' }), 'a');
  assert.equal(await answerer('matches', '/both', { headers: { 'x-one': '1', 'x-two': '22' } }), 'a');
  assert.equal(await answerer('matches', '/both', { headers: { 'x-one': '1', 'x-two': '3' } }), 'b');
  assert.equal(await answerer('matches', '/'), 'b');
  assert.equal(await answerer('unheard-of', '/'), '404');
});

test('weights share requests, and 0 gets none', async () => {
  const counts = new Map<string, number>();
  for (let i = 0; i < 200; i++) {
    const who = await answerer('weights', '/');
    counts.set(who, (counts.get(who) ?? 0) + 1);
  }
  const share = (counts.get('a') ?? 0) / 200;
  assert.deepEqual([...counts.keys()].sort(), ['a', 'b']);
  assert.ok(share > 0.6 && share < 0.9, `a has ${share}`);
});

test('headers of requests and answers are set, added and removed, for a rule and for a backend', async () => {
  a.requests.splice(0);
  const { headers } = await ask('headers', '/', { headers: { 'x-set': 'old', 'x-add': 'one', 'x-gone': 'here' } });
  const [seen] = a.requests;
  assert.deepEqual(
    ['x-set', 'x-add', 'x-gone', 'x-for'].map((name) => seen?.headers[name]),
    ['new', 'one, more', undefined, 'a'],
  );
  assert.deepEqual([headers['x-backend'], headers['x-more']], ['hidden', '1']);
});

test('requests are redirected', async () => {
  const whole = await ask('redirects', '/whole/thing');
  assert.deepEqual([whole.status, whole.headers.location], [301, 'https://other.example.com:8443/there']);
  const prefix = await ask('redirects', '/old/page?x=1');
  assert.deepEqual([prefix.status, prefix.headers.location], [302, 'http://redirects.example.com/new/page?x=1']);
});

test('paths and hosts are rewritten', async () => {
  a.requests.splice(0);
  for (const path of ['/cut/off', '/cut', '/prefix/page', '/whole/thing?q=1']) await ask('rewrites', path);
  assert.deepEqual(
    a.requests.map(({ url }) => url),
    ['/off', '/', '/v2/page', '/one?q=1'],
  );
  assert.deepEqual(a.requests.map(({ headers }) => headers.host).slice(0, 3), [
    'inside.test',
    'inside.test',
    'rewrites.example.com',
  ]);
});

test('a mirror gets a copy, and answers nobody', async () => {
  b.requests.splice(0);
  assert.equal(await answerer('mirror', '/copied'), 'a');
  const [copy] = await waitFor(() => b.requests.length > 0 && b.requests, { what: 'copy at the mirror' });
  assert.equal(copy?.url, '/copied');
});

test('time limits of a request and of a try end it', async () => {
  assert.equal(await answerer('times', '/request'), '504');
  assert.equal(await answerer('times', '/try'), '504');
});

test('what fails is tried again so often', async () => {
  c.requests.splice(0);
  c.status = 503;
  assert.equal(await answerer('retries', '/'), '503');
  assert.equal(c.requests.length, 3);
  c.status = 200;
});

test('pages of other origins may ask where they are allowed', async () => {
  const preflight = (origin: string) =>
    ask('cors', '/', { method: 'OPTIONS', headers: { origin, 'access-control-request-method': 'PUT' } });
  const friend = await preflight('https://a.friends.test');
  assert.deepEqual(
    [friend.headers['access-control-allow-origin'], friend.headers['access-control-allow-methods']],
    ['https://a.friends.test', 'GET,PUT'],
  );
  assert.equal(friend.headers['access-control-max-age'], '60');
  const stranger = await preflight('https://strangers.test');
  assert.equal(stranger.headers['access-control-allow-origin'], undefined);
});

test('without a backend that is there the answer is 500, for its share', async () => {
  assert.equal(await answerer('nowhere', '/none'), '500');
  assert.equal(await answerer('nowhere', '/gone'), '500');
  const seen = new Set<string>();
  for (let i = 0; i < 60; i++) seen.add(await answerer('half', '/'));
  assert.deepEqual([...seen].sort(), ['500', 'a']);
});

test('a backend of another namespace needs a grant, which may come and go', async () => {
  assert.equal(await answerer('foreign', '/'), '500');
  mesh.write('bank/grant.yaml', grant('HTTPRoute', 'other'));
  mesh.write('bank/mine.yaml', grant('HTTPRoute', 'shop'));
  await waitFor(async () => (await answerer('foreign', '/')) === 'vault', { what: 'answer of the backend' });
  mesh.dir.remove('etc/istio/conf/bank/mine.yaml');
  await waitFor(async () => (await answerer('foreign', '/')) === '500', { what: 'end of the grant' });
});

test('an edit of a route is followed', async () => {
  assert.equal(await answerer('edited', '/'), 'a');
  mesh.write('shop/routes.yaml', ROUTES.replace(/(name: edited[\s\S]*?)name: a,/, '$1name: b,'));
  await waitFor(async () => (await answerer('edited', '/')) === 'b', { what: 'answer of the other backend' });
});

test('calls are told apart by service and method', async () => {
  assert.equal(await answerer('calls', '/shop.Cart/Get', { method: 'POST' }), 'a');
  assert.equal(await answerer('calls', '/shop.Cart/Put', { method: 'POST' }), 'b');
  assert.equal(await answerer('calls', '/shop.Stock/Get', { method: 'POST' }), '404');
});

test('TLS is passed on by the name that is asked for, and TCP as it comes', async () => {
  const tls = await probe({
    to: `127.0.0.1:${ports.tls}`,
    host: 'one.example.com',
    tls: { servername: 'one.example.com' },
  });
  const { backend: secret, tls: seen } = JSON.parse(tls.body) as Echo;
  assert.deepEqual([secret, seen?.servername], ['secret', 'one.example.com']);
  await assert.rejects(probe({ to: `127.0.0.1:${ports.tls}`, tls: { servername: 'two.example.com' } }));
  const tcp = await probe({ to: `127.0.0.1:${ports.tcp}`, protocol: 'tcp' });
  assert.equal((JSON.parse(tcp.body) as Echo).backend, 'plain');
});

test('the Envoy refused nothing of all this, and listens on loopback alone, as an EnvoyFilter says', async () => {
  assert.equal(await mesh.envoy.rejected(), 0);
  const listeners = (await mesh.envoy.get('/listeners')).body;
  for (const port of [ports.http, ports.tls, ports.tcp])
    assert.match(listeners, new RegExp(`127\\.0\\.0\\.1:${port}\\b`));
  assert.doesNotMatch(listeners, /::0\.0\.0\.0:/);
});
