import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HTTPMatchRequest, HTTPRoute } from '#generated/config/specs.ts';
import type { envoy } from '#generated/proto/types.ts';
import type { DestinationFacts } from '../../../../src/envoy/routes/destination.ts';
import { type HttpRoutesInput, httpRoutes } from '../../../../src/envoy/routes/http-routes.ts';
import { encodeMessage } from '../../../../src/proto/message.ts';
import { virtualService } from './fixtures.ts';

type Route = envoy.config.route.v3.Route;

interface Options {
  readonly listenPort?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly gateways?: readonly string[];
  readonly destinations?: Readonly<Record<string, DestinationFacts>>;
  readonly semantics?: string;
  readonly input?: Partial<HttpRoutesInput>;
}

/** The routes, which are also encoded, so that no field of them is misspelt. */
function translated(http: readonly HTTPRoute[], options: Options = {}): readonly Route[] {
  const { listenPort = 80, labels = {}, gateways = ['mesh'], destinations = {}, semantics, input } = options;
  const annotations: Record<string, string> = semantics ? { 'internal.istio.io/route-semantics': semantics } : {};
  const routes = httpRoutes({
    virtualService: virtualService({ hosts: ['a'], http }, { annotations }),
    client: { listenPort, gateways: new Set(gateways), namespace: 'default', labels },
    destinations: new Map(Object.entries(destinations)),
    retry: { attempts: 0 },
    appendXForwardedHost: false,
    proxylessGrpc: false,
    isTls: false,
    http3: false,
    ...input,
  });
  for (const route of routes) encodeMessage('envoy.config.route.v3.Route', route);
  return routes;
}

const toA = [{ destination: { host: 'a.com' } }];
const only = (http: HTTPRoute, options?: Options): Route => {
  const [route, ...others] = translated([http], options);
  assert.ok(route);
  assert.equal(others.length, 0);
  return route;
};
const match = (request: HTTPMatchRequest, options?: Options) => only({ match: [request], route: toA }, options).match;

test('a route says where it comes from, what is traced, and sets no time limit of its own', () => {
  assert.deepEqual(only({ name: 'r', match: [{ name: 'm', uri: { prefix: '/a' }, statPrefix: 's' }], route: toA }), {
    name: 'r.m',
    match: { prefix: '/a', caseSensitive: true },
    metadata: {
      filterMetadata: { istio: { config: '/apis/networking.istio.io/v1/namespaces/default/virtual-service/vs' } },
    },
    statPrefix: 's',
    route: { cluster: 'outbound|80||a.com', timeout: '0s', maxGrpcTimeout: '0s' },
    decorator: { operation: 'a.com:80/a*' },
  });
});

test('every kind of match has its form', () => {
  const cases: readonly (readonly [HTTPMatchRequest, envoy.config.route.v3.RouteMatch])[] = [
    [{}, { prefix: '/' }],
    [{ uri: { exact: '/a' } }, { path: '/a' }],
    [
      { uri: { regex: '/a.*' }, ignoreUriCase: true },
      { safeRegex: { regex: '/a.*' }, caseSensitive: false },
    ],
    [
      { headers: { b: { exact: '1' }, a: {} }, withoutHeaders: { c: { prefix: 'x' }, d: { regex: '*' } } },
      {
        prefix: '/',
        headers: [
          { name: 'a', presentMatch: true },
          { name: 'b', stringMatch: { exact: '1' } },
          { name: 'c', stringMatch: { prefix: 'x' }, invertMatch: true, treatMissingHeaderAsEmpty: true },
          { name: 'd', presentMatch: true, invertMatch: true },
        ],
      },
    ],
    [
      { method: { exact: 'GET' }, authority: { prefix: 'a.' }, scheme: { exact: 'https' } },
      {
        prefix: '/',
        headers: [
          { name: ':method', stringMatch: { exact: 'GET' } },
          { name: ':authority', stringMatch: { prefix: 'a.' } },
          { name: ':scheme', stringMatch: { exact: 'https' } },
        ],
      },
    ],
    [
      { queryParams: { q: { regex: 'x+' }, p: {} } },
      {
        prefix: '/',
        queryParameters: [
          { name: 'p', presentMatch: true },
          { name: 'q', stringMatch: { safeRegex: { regex: 'x+' } } },
        ],
      },
    ],
  ];
  for (const [written, expected] of cases) assert.deepEqual(match(written), { caseSensitive: true, ...expected });
  assert.deepEqual(only({ route: toA }).match, { prefix: '/' });
});

test('a header that names a claim is looked for in the token', () => {
  const claim = (...names: readonly string[]) => ({
    filter: 'envoy.filters.http.jwt_authn',
    path: ['payload', ...names].map((key) => ({ key })),
    value: {
      orMatch: {
        valueMatchers: [{ listMatch: { oneOf: { stringMatch: { exact: 'x' } } } }, { stringMatch: { exact: 'x' } }],
      },
    },
  });
  assert.deepEqual(match({ headers: { '@request.auth.claims.group.id': { exact: 'x' } } })?.dynamicMetadata, [
    claim('group', 'id'),
  ]);
  assert.deepEqual(match({ withoutHeaders: { '@request.auth.claims[a.b][c]': { exact: 'x' } } })?.dynamicMetadata, [
    { ...claim('a.b', 'c'), invert: true },
  ]);
});

test('prefixes of Ingress and Gateway API count whole segments', () => {
  for (const semantics of ['ingress', 'gateway']) {
    assert.deepEqual(match({ uri: { prefix: '/a/' } }, { semantics })?.pathSeparatedPrefix, '/a');
    assert.deepEqual(match({ uri: { prefix: '/' } }, { semantics })?.prefix, '/');
  }
});

test('matches for other clients, ports and gateways are left out', () => {
  const http: readonly HTTPRoute[] = [
    {
      match: [
        { name: 'port', port: 81, uri: { exact: '/' } },
        { name: 'label', sourceLabels: { app: 'x' }, uri: { exact: '/' } },
        { name: 'namespace', sourceNamespace: 'other', uri: { exact: '/' } },
        { name: 'gateway', gateways: ['ns/gw'], sourceNamespace: 'other', uri: { exact: '/' } },
      ],
      route: toA,
    },
  ];
  const names = (options: Options) => translated(http, options).map(({ name }) => name);
  assert.deepEqual(names({}), []);
  assert.deepEqual(names({ listenPort: 81 }), ['.port']);
  assert.deepEqual(names({ labels: { app: 'x', more: 'y' } }), ['.label']);
  assert.deepEqual(names({ gateways: ['ns/gw'] }), ['.gateway']);
});

test('nothing follows a route that takes every request', () => {
  const http: readonly HTTPRoute[] = [
    {
      name: 'first',
      match: [{ uri: { exact: '/' } }, { uri: { regex: '.*' } }, { uri: { exact: '/never' } }],
      route: toA,
    },
    { name: 'never', route: toA },
  ];
  assert.deepEqual(
    translated(http).map(({ match: m }) => m?.path ?? m?.safeRegex?.regex),
    ['/', '.*'],
  );
});

test('several destinations share by weight, and those without weight get nothing', () => {
  const { route, decorator } = only({
    route: [
      {
        destination: { host: 'a.com', subset: 'v1' },
        weight: 90,
        headers: { request: { set: { host: 'x.com', b: '1' } } },
      },
      { destination: { host: 'b.com', port: { number: 81 } }, weight: 10 },
      { destination: { host: 'c.com' } },
    ],
  });
  assert.deepEqual(route?.weightedClusters?.clusters, [
    {
      name: 'outbound|80|v1|a.com',
      weight: 90,
      requestHeadersToAdd: [{ header: { key: 'b', value: '1' }, appendAction: 'OVERWRITE_IF_EXISTS_OR_ADD' }],
      hostRewriteLiteral: 'x.com',
    },
    { name: 'outbound|81||b.com', weight: 10 },
  ]);
  assert.equal(decorator?.operation, 'vs:80/*');
});

test('a destination without port means the only port of its service, and an alias the service behind it', () => {
  const cluster = (facts: DestinationFacts, listenPort: number) =>
    only({ route: toA }, { listenPort, destinations: { 'a.com': facts } }).route?.cluster;
  assert.equal(cluster({}, 0), 'outbound|0||a.com');
  assert.equal(cluster({ onlyPort: 8080 }, 0), 'outbound|8080||a.com');
  assert.equal(cluster({ externalName: 'real.com' }, 80), 'outbound|80||real.com');
});

test('a rewrite changes path and authority, the authority before what headers say', () => {
  const headers = { request: { set: { ':authority': 'h.com' } } };
  const action = (http: HTTPRoute, options?: Options) => only({ route: toA, ...http }, options).route;
  assert.equal(action({ headers })?.hostRewriteLiteral, 'h.com');
  assert.equal(action({ headers, rewrite: { authority: 'r.com' } })?.hostRewriteLiteral, 'r.com');
  assert.equal(action({ rewrite: { uri: '/new' } })?.prefixRewrite, '/new');
  assert.deepEqual(action({ rewrite: { uriRegexRewrite: { match: 'a', rewrite: 'b' } } })?.regexRewrite, {
    pattern: { regex: 'a' },
    substitution: 'b',
  });
  const toRoot: HTTPRoute = { match: [{ uri: { prefix: '/a.b' } }], rewrite: { uri: '/' } };
  assert.equal(action(toRoot)?.prefixRewrite, '/');
  assert.deepEqual(action(toRoot, { semantics: 'gateway' })?.regexRewrite, {
    pattern: { regex: '^/a\\.b(/?)(.*)' },
    substitution: '/\\2',
  });
  const forwarded = { input: { appendXForwardedHost: true } };
  assert.equal(action({ rewrite: { uri: '/' } }, forwarded)?.appendXForwardedHost, true);
  assert.equal(action({}, forwarded)?.appendXForwardedHost, undefined);
});

test('mirrors get the share that is written, all by default, and none for zero', () => {
  const shares = (http: HTTPRoute) =>
    only({ route: toA, ...http }).route?.requestMirrorPolicies?.map((m) => m.runtimeFraction?.defaultValue);
  const mirror = { host: 'm.com' };
  assert.deepEqual(shares({ mirror }), [{ numerator: 100 }]);
  assert.deepEqual(shares({ mirror, mirrorPercent: 5 }), [{ numerator: 5 }]);
  assert.deepEqual(shares({ mirror, mirrorPercent: 5, mirrorPercentage: { value: 0.5 } }), [
    { numerator: 5000, denominator: 'MILLION' },
  ]);
  assert.equal(shares({ mirror, mirrorPercent: 0 }), undefined);
  assert.equal(shares({ mirror, mirrorPercentage: {} }), undefined);
  assert.deepEqual(shares({ mirrors: [{ destination: mirror }, { destination: mirror, percentage: { value: 1 } }] }), [
    { numerator: 100 },
    { numerator: 10_000, denominator: 'MILLION' },
  ]);
});

test('a redirect leaves out a port that its scheme implies', () => {
  const redirect = (written: HTTPRoute['redirect'], options?: Options) =>
    translated([{ ...(written && { redirect: written }) }], options)[0]?.redirect;
  assert.deepEqual(redirect({}), { pathRedirect: '' });
  assert.deepEqual(redirect({ prefixRewrite: '/p', uri: '/u' }), { prefixRewrite: '/p' });
  assert.equal(redirect({ port: 443, scheme: 'https' })?.portRedirect, undefined);
  assert.equal(redirect({ port: 443 })?.portRedirect, 443);
  assert.equal(redirect({ port: 443 }, { input: { isTls: true } })?.portRedirect, undefined);
  assert.equal(redirect({ derivePort: 'FROM_REQUEST_PORT' }, { listenPort: 8080 })?.portRedirect, 8080);
  assert.equal(redirect({ derivePort: 'FROM_PROTOCOL_DEFAULT' }, { listenPort: 8080 })?.portRedirect, undefined);
  assert.equal(redirect({ redirectCode: 303 })?.responseCode, 'SEE_OTHER');
  assert.equal(redirect({ redirectCode: 304 }), undefined);
});

test('header changes of the only destination follow those of the route; pseudo-headers are not touched', () => {
  const headers = (value: string) => ({
    request: { set: { b: value, a: value, ':path': 'no' }, add: { c: value }, remove: ['x', 'Host'] },
    response: { remove: ['y'] },
  });
  const route = only({ route: [{ destination: { host: 'a.com' }, headers: headers('2') }], headers: headers('1') });
  const set = (key: string, value: string) => ({ header: { key, value }, appendAction: 'OVERWRITE_IF_EXISTS_OR_ADD' });
  assert.deepEqual(route.requestHeadersToAdd, [
    set('a', '1'),
    set('b', '1'),
    { header: { key: 'c', value: '1' } },
    set('a', '2'),
    set('b', '2'),
    { header: { key: 'c', value: '2' } },
  ]);
  assert.deepEqual(route.requestHeadersToRemove, ['x', 'x']);
  assert.deepEqual(route.responseHeadersToRemove, ['y', 'y']);
});

test('faults and CORS stand in the configuration of their filters', () => {
  const { typedPerFilterConfig } = only({
    route: toA,
    fault: {
      delay: { fixedDelay: '1m', percent: 10 },
      abort: { grpcStatus: 'UNAVAILABLE', percentage: { value: 0.29 } },
    },
    corsPolicy: { allowOrigins: [{ regex: '.*' }], maxAge: '1h1.5s', allowMethods: ['GET', 'PUT'] },
  });
  assert.deepEqual(typedPerFilterConfig?.['envoy.filters.http.fault'], {
    '@type': 'type.googleapis.com/envoy.extensions.filters.http.fault.v3.HTTPFault',
    delay: { fixedDelay: '60s', percentage: { numerator: 10 } },
    abort: { grpcStatus: 14, percentage: { numerator: 2900, denominator: 'MILLION' } },
  });
  assert.deepEqual(typedPerFilterConfig?.['envoy.filters.http.cors'], {
    '@type': 'type.googleapis.com/envoy.extensions.filters.http.cors.v3.CorsPolicy',
    forwardNotMatchingPreflights: true,
    filterEnabled: { defaultValue: { numerator: 100 } },
    allowOriginStringMatch: [{ safeRegex: { regex: '.*' } }],
    allowMethods: 'GET,PUT',
    maxAge: '3601',
  });
});

test('a consistent hash comes from the subset, then the port, then the service, and retries keep to its host', () => {
  const hash = (httpHeaderName: string) => ({ loadBalancer: { consistentHash: { httpHeaderName } } });
  const hashRule = {
    host: 'a.com',
    trafficPolicy: { ...hash('service'), portLevelSettings: [{ port: { number: 81 }, ...hash('port') }] },
    subsets: [{ name: 'v1', trafficPolicy: hash('subset') }, { name: 'v2' }],
  };
  const route = (destination: { readonly subset?: string; readonly port?: { readonly number: number } }) =>
    only(
      { route: [{ destination: { host: 'a.com', ...destination } }], retries: { attempts: 1 } },
      { destinations: { 'a.com': { hashRule } } },
    ).route;
  const header = (r: Route['route']) => r?.hashPolicy?.map((policy) => policy.header?.headerName);
  assert.deepEqual(header(route({})), ['service']);
  assert.deepEqual(header(route({ port: { number: 81 } })), ['port']);
  assert.deepEqual(header(route({ port: { number: 81 }, subset: 'v1' })), ['subset']);
  assert.deepEqual(header(route({ subset: 'v2' })), ['service']);
  assert.equal(route({})?.retryPolicy?.retryHostPredicate, undefined);
  assert.equal(only({ route: toA, retries: { attempts: 1 } }).route?.retryPolicy?.retryHostPredicate?.length, 1);
});

test('a route has the session of its service', () => {
  const facts = { 'a.com': { session: { cookie: 'c' } }, 'b.com': { session: { header: 'x-s' } } };
  const filter = (http: HTTPRoute) => Object.keys(only(http, { destinations: facts }).typedPerFilterConfig ?? {});
  assert.deepEqual(filter({ route: toA }), ['envoy.filters.http.stateful_session']);
  assert.deepEqual(filter({ redirect: { uri: '/' } }), []);
  assert.deepEqual(filter({ route: [{ destination: { host: 'c.com' } }] }), []);
});
