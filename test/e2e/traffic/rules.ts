import type { SidecarTraffic } from './expectation.ts';
import { absolute, h2, http, inbound, REVIEWS, reviews, STRANGER, TCP_ECHO, tcp, tls } from './requests.ts';

const [V1, V2, V3] = REVIEWS;
/** The tester whom case 036 knows. */
const ALICE = { 'x-user': 'alice', 'x-env': 'qa-1', cookie: 'user=tester', 'x-present': '' };
const ANYWHERE = '240.0.0.1';

const both = (network: string): readonly string[] => [`${network}.1:80`, `${network}.2:80`];

/** Requests that rules send somewhere. */
export const RULE_TRAFFIC: readonly SidecarTraffic[] = [
  {
    case: '035',
    proxy: 'sleep',
    requests: [
      reviews('/reviews/1', { backend: V1 }),
      reviews('/reviews/2', { backend: V2 }),
      reviews('/rab/5', { backend: V2 }),
      reviews('/HEALTHZ', { backend: V3 }),
      reviews('/live', { backend: V3 }),
      reviews('/never', { backend: V1 }),
    ],
  },
  {
    case: '036',
    proxy: 'sleep',
    requests: [
      reviews('/', { backend: REVIEWS }, { headers: ALICE }),
      reviews('/', { status: 404 }, { headers: { ...ALICE, 'x-legacy': '1' } }),
      reviews('/', { status: 404 }, { headers: { ...ALICE, 'x-user': 'bob' } }),
      reviews('/?debug=true&q=abc&any=', { backend: REVIEWS }),
      reviews('/?debug=true&q=123&any=', { status: 404 }),
      reviews('/p/q', { backend: REVIEWS }),
      reviews('/other-port', { status: 404 }),
    ],
  },
  {
    case: '038',
    proxy: 'sleep',
    requests: [
      reviews('/old/x', { backend: REVIEWS, path: '/new/x' }),
      reviews('/slash/a', { backend: REVIEWS, path: '/a' }),
      reviews('/exact', { backend: REVIEWS, path: '/replaced', host: 'legacy.example.com' }),
      reviews('/svc/one/two', { backend: REVIEWS, path: '/one/two' }),
      reviews('/r1', { status: 301, headers: { location: 'http://www.example.com/target' } }),
      reviews('/r2/x', { status: 308, headers: { location: 'https://reviews:8443/r2/x' } }),
      reviews('/r3', { status: 302, headers: { location: 'http://x.example.com:9080/r3' } }),
      reviews('/teapot', { status: 418, body: 'short and stout', headers: { 'content-type': 'text/plain' } }),
      reviews('/empty', { status: 204 }),
      reviews('/bytes', { body: 'hello' }),
    ],
  },
  {
    case: '040',
    proxy: 'sleep',
    requests: [reviews('/one', { backend: V1 }), reviews('/zero', { backend: V1 }), reviews('/many', { backend: V1 })],
  },
  {
    case: '041',
    proxy: 'sleep',
    requests: [
      reviews('/abort', { status: 503, body: 'fault filter abort' }),
      reviews('/retry', { backend: REVIEWS }),
      reviews('/noretry', { backend: REVIEWS }),
    ],
  },
  {
    case: '042',
    proxy: 'sleep',
    requests: [
      reviews(
        '/cors',
        {
          headers: {
            'access-control-allow-origin': 'https://shop.example.com',
            'access-control-allow-methods': 'GET,POST',
            'access-control-max-age': '86400',
            'access-control-allow-credentials': 'true',
          },
        },
        { method: 'OPTIONS', headers: { origin: 'https://shop.example.com', 'access-control-request-method': 'GET' } },
      ),
      reviews(
        '/hdr',
        {
          backend: V1,
          host: 'other.example.com',
          seen: { 'x-a': '1', 'x-b': '2', 'x-c': '3', 'x-d': undefined, 'x-dest': 'v1' },
          headers: { 'x-s': 's' },
        },
        { headers: { 'x-d': 'gone', 'x-a': 'client' } },
      ),
      reviews('/', { backend: REVIEWS }),
    ],
  },
  { case: '044', proxy: 'sleep', requests: [tcp('10.96.1.4:9000', { backend: TCP_ECHO })] },
  { case: '044', proxy: 'other', requests: [tcp('10.96.1.4:9000', { backend: TCP_ECHO[1] })] },
  {
    case: '046',
    proxy: 'sleep',
    requests: [
      reviews('/older', { backend: REVIEWS }),
      reviews('/newer', { status: 404 }),
      http(`${ANYWHERE}:9080`, 'reviews.example.com:9080/older', { backend: REVIEWS }),
    ],
  },
  {
    case: '048',
    proxy: 'a',
    requests: [
      http('10.96.1.2:9080', 'reviews.default:9080/private-a', { backend: REVIEWS }),
      http('10.96.1.2:9080', 'reviews.default:9080/else', { status: 404 }),
    ],
  },
  { case: '048', proxy: 'b', requests: [http('10.96.1.2:9080', 'reviews.default:9080/else', { backend: REVIEWS })] },
  { case: '048', proxy: 'sleep', requests: [reviews('/else', { backend: REVIEWS })] },
  {
    case: '049',
    proxy: 'sleep',
    requests: [
      http('10.96.8.1:80', 'multi/noport', { backend: '10.10.5.1:8080' }),
      http('10.96.8.1:80', 'multi/port81', { backend: '10.10.5.1:8081' }),
      tcp('10.96.8.1:82', { backend: '10.10.5.1:82' }),
      http(`${ANYWHERE}:80`, 'multi-alias.example.com', { backend: '10.10.5.1:8080' }),
    ],
  },
  {
    case: '050',
    proxy: 'sleep',
    strangers: [`${STRANGER}:80`],
    requests: [
      ...(['rr', 'lr', 'lc', 'rnd'] as const).map((name, i) =>
        http(`${ANYWHERE}:80`, `${name}.example.com`, { backend: both(`10.90.${i}`) }),
      ),
      // PASSTHROUGH: to where it was sent, whatever the endpoints are.
      http(`${STRANGER}:80`, 'pass.example.com', { backend: `${STRANGER}:80` }),
    ],
  },
  {
    case: '052',
    proxy: 'in-r1',
    requests: [http(`${ANYWHERE}:80`, 'geo.example.com', { backend: '10.91.0.1:80' })],
  },
  {
    case: '052',
    proxy: 'in-r2',
    requests: [http(`${ANYWHERE}:80`, 'geo.example.com', { backend: '10.91.0.4:80' })],
  },
  {
    case: '052',
    proxy: 'nowhere',
    requests: [http(`${ANYWHERE}:80`, 'geo.example.com', { backend: '10.91.0.6:80' })],
  },
  {
    case: '053',
    proxy: 'in-r1',
    requests: [
      http(`${ANYWHERE}:80`, 'geo.example.com', { backend: [1, 2, 3, 4].map((number) => `10.91.0.${number}:80`) }),
    ],
  },
  {
    case: '053',
    proxy: 'in-r2',
    requests: [http(`${ANYWHERE}:80`, 'geo.example.com', { backend: '10.91.0.4:80' })],
  },
  {
    case: '055',
    proxy: 'sleep',
    requests: [
      http(`${ANYWHERE}:80`, 'pool.example.com', { backend: both('10.90.0'), protocol: 'h2' }),
      http(`${ANYWHERE}:80`, 'client.example.com', { backend: both('10.90.1'), protocol: 'http/1.1' }),
      h2(`${ANYWHERE}:80`, 'client.example.com', { backend: both('10.90.1'), protocol: 'h2' }),
      h2(`${ANYWHERE}:80`, 'noupgrade.example.com', { backend: both('10.90.2'), protocol: 'http/1.1' }),
    ],
  },
  {
    case: '056',
    proxy: 'sleep',
    sds: true,
    requests: [
      http(`${ANYWHERE}:80`, 'off.example.com', { backend: both('10.90.0'), tls: 'none' }),
      http(`${ANYWHERE}:80`, 'simple.example.com', {
        backend: both('10.90.1'),
        tls: { servername: 'simple.backend', peer: '' },
      }),
      http(`${ANYWHERE}:80`, 'mutual.example.com', {
        backend: both('10.90.3'),
        tls: { peer: 'URI:spiffe://cluster.local/ns/default/sa/sleep' },
      }),
      http(`${ANYWHERE}:80`, 'im.example.com', { backend: both('10.90.5'), tls: { servername: 'custom.sni' } }),
    ],
  },
  {
    case: '058',
    proxy: 'sleep',
    requests: [
      tls('192.0.2.9:443', 'target.example.net', {
        backend: ['10.90.0.1:3128', '10.90.0.2:3128'],
        through: 'target.example.net:443',
      }),
    ],
  },
  {
    case: '060',
    proxy: 'in-r1',
    requests: ['bu', 'za', 'rb'].map((name, i) =>
      http(`${ANYWHERE}:80`, `${name}.example.com`, { backend: both(`10.90.${i}`) }),
    ),
  },
  {
    case: '085',
    proxy: 'sleep',
    requests: [
      http('10.96.20.1:80', 'catalog.team-a', { backend: '10.11.1.1:8080' }),
      tcp('10.96.20.2:5000', { backend: '10.11.2.1:5000' }),
      reviews('/', { backend: REVIEWS }),
    ],
  },
  {
    case: '085',
    proxy: 'catalog',
    strangers: [`${STRANGER}:9080`],
    requests: [http(`${STRANGER}:9080`, 'reviews.default:9080', { backend: `${STRANGER}:9080` })],
  },
  {
    case: '085',
    proxy: 'orders',
    requests: [
      http(`${ANYWHERE}:9080`, 'reviews.default:9080', { backend: REVIEWS }),
      tcp('10.96.1.4:9000', { backend: TCP_ECHO }),
    ],
  },
  {
    case: '087',
    proxy: 'sleep',
    strangers: [`${STRANGER}:9080`, `${STRANGER}:4444`],
    requests: [
      reviews('/', { backend: REVIEWS }),
      // REGISTRY_ONLY: nobody else is reached.
      http(`${STRANGER}:9080`, 'elsewhere.example:9080', { status: 502 }),
      tcp(`${STRANGER}:4444`, { closed: true }),
    ],
  },
  {
    case: '087',
    proxy: 'catalog',
    strangers: [`${STRANGER}:4444`],
    requests: [tcp(`${STRANGER}:4444`, { backend: '10.11.2.1:5000' })],
  },
  {
    case: '087',
    proxy: 'orders',
    strangers: [`${STRANGER}:4444`],
    requests: [tcp(`${STRANGER}:4444`, { backend: `${STRANGER}:4444` })],
  },
  ...(['sleep', 'sleep-redirect'] as const).map(
    (proxy): SidecarTraffic => ({
      case: '089',
      proxy,
      apps: ['127.0.0.1:80'],
      requests: [
        absolute('127.0.0.1:3128', 'catalog.team-a.svc.cluster.local', '/x', { backend: '10.11.1.1:8080' }),
        http('127.0.0.1:9080', 'reviews:9080', { backend: REVIEWS }),
        tcp('127.0.0.5:9000', { backend: TCP_ECHO }),
        http('/run/egress.sock', 'catalog.team-a.svc.cluster.local', { backend: '10.11.1.1:8080' }),
        inbound(http('10.10.0.1:18080', 'sleep:18080', { backend: '127.0.0.1:80' })),
      ],
    }),
  ),
  {
    case: '090',
    proxy: 'httpbin',
    apps: ['10.10.1.1:8080'],
    requests: [
      inbound(http('10.10.1.1:8080', 'httpbin:8000', { backend: '10.10.1.1:8080', from: '127.0.0.6' })),
      tcp('10.96.1.4:9000', { backend: TCP_ECHO }),
    ],
  },
  {
    case: '090',
    proxy: 'tproxy',
    apps: ['10.10.1.1:8080', '10.10.1.1:7777'],
    requests: [
      // The workload sees the address of the client.
      inbound(http('10.10.1.1:8080', 'httpbin:8000', { backend: '10.10.1.1:8080', from: '169.254.0.1' })),
      inbound(tcp('10.10.1.1:7777', { backend: '10.10.1.1:7777', from: '169.254.0.1' })),
      tcp('10.96.1.4:9000', { backend: TCP_ECHO }),
    ],
  },
  {
    case: '090',
    proxy: 'tproxy',
    sds: true,
    apps: ['10.10.1.1:8080'],
    requests: [
      inbound(http('10.10.1.1:8080', 'httpbin:8000', { backend: '10.10.1.1:8080', from: '169.254.0.1' })),
      tcp('10.96.1.4:9000', { backend: TCP_ECHO, tls: { alpn: 'istio' } }),
    ],
  },
  {
    case: '090',
    proxy: 'none',
    apps: ['10.10.1.1:8080'],
    requests: [
      http('127.0.0.1:8000', 'httpbin:8000', { backend: '10.10.1.1:8080' }),
      tcp('127.0.0.1:9000', { backend: TCP_ECHO }),
    ],
  },
];
