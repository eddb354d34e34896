import type { SidecarTraffic } from './expectation.ts';
import { h2, http, inbound, REVIEWS, reviews, STRANGER, TCP_ECHO, tcp, tls } from './requests.ts';

/** Requests to services of every kind. */
export const SERVICE_TRAFFIC: readonly SidecarTraffic[] = [
  {
    case: '001',
    proxy: 'sleep',
    strangers: [`${STRANGER}:9080`, `${STRANGER}:4444`],
    requests: [
      reviews('/one', { backend: REVIEWS, tls: 'none', host: 'reviews:9080' }),
      http('10.96.1.3:9080', 'ratings.default.svc.cluster.local:9080', { backend: '10.10.3.1:9080' }),
      // The Host header decides, not the address.
      http('10.96.1.2:9080', 'ratings:9080', { backend: '10.10.3.1:9080' }),
      tcp('10.96.1.4:9000', { backend: TCP_ECHO }),
      http(`${STRANGER}:9080`, 'elsewhere.example:9080', { backend: `${STRANGER}:9080` }),
      tcp(`${STRANGER}:4444`, { backend: `${STRANGER}:4444` }),
    ],
  },
  {
    case: '001',
    proxy: 'sleep',
    sds: true,
    requests: [
      reviews('/one', { backend: REVIEWS, tls: { servername: 'outbound_.9080_._.reviews.default.svc.cluster.local' } }),
      reviews('/two', { tls: { alpn: 'istio-http/1.1', peer: 'URI:spiffe://cluster.local/ns/default/sa/sleep' } }),
      tcp('10.96.1.4:9000', { backend: TCP_ECHO, tls: { alpn: 'istio' } }),
    ],
  },
  {
    case: '001',
    proxy: 'reviews',
    apps: ['10.10.2.1:9080', '10.10.2.1:7777'],
    requests: [
      inbound(http('10.10.2.1:9080', 'reviews:9080/in', { backend: '10.10.2.1:9080' })),
      // A port that no service has.
      inbound(tcp('10.10.2.1:7777', { backend: '10.10.2.1:7777' })),
      http('10.96.1.3:9080', 'ratings:9080', { backend: '10.10.3.1:9080' }),
    ],
  },
  {
    case: '003',
    proxy: 'httpbin',
    apps: ['10.10.1.1:8080'],
    requests: [inbound(http('10.10.1.1:8080', 'httpbin:8000/status/200', { backend: '10.10.1.1:8080' }))],
  },
  {
    case: '004',
    proxy: 'web',
    sds: true,
    apps: ['192.168.5.11:8080'],
    requests: [
      tcp('10.200.0.5:5432', {
        backend: '192.168.5.21:5432',
        tls: {
          servername: 'outbound_.5432_._.db.shop.internal',
          alpn: 'istio',
          peer: 'URI:spiffe://cluster.local/ns/shop/sa/web',
        },
      }),
      // STRICT: nothing comes in in plaintext.
      inbound(http('192.168.5.11:8080', 'web.shop.internal', { closed: true })),
    ],
  },
  {
    case: '004',
    proxy: 'web',
    apps: ['192.168.5.11:8080'],
    // Without a certificate of its own it can not be reached as the policy wants it, so that it can not be reached.
    requests: [inbound(http('192.168.5.11:8080', 'web.shop.internal', { closed: true }))],
  },
  {
    case: '010',
    proxy: 'sleep',
    requests: [
      http('240.0.0.1:80', 'api.payments.example.com', { backend: 'api.payments.example.com:80' }),
      tls('240.0.0.1:443', 'api.payments.example.com', { backend: 'api.payments.example.com:443' }),
      tls('240.0.0.1:8443', 'geo.example.com', { backend: ['geo-eu.example.net:443', 'geo-us.example.net:443'] }),
      tcp('240.0.0.1:6379', { backend: 'rr.example.com:6379' }),
      h2('240.1.0.7:5000', 'rr-ep.example.com:5000', { backend: 'backend.example.net:5001' }),
    ],
  },
  ...['sleep', 'dual'].map(
    (proxy): SidecarTraffic => ({
      case: '012',
      proxy,
      requests: [
        http('10.77.0.1:8080', 'one.multi.example:8080', { backend: ['10.70.0.1:8080', '[2001:db8::70:2]:8080'] }),
        h2('10.77.0.2:8081', 'two.multi.example:8081', { backend: ['10.70.0.1:18081', '[2001:db8::70:2]:18081'] }),
        tcp('10.77.0.3:9300', { backend: ['10.70.0.1:9300', '[2001:db8::70:2]:9300'] }),
        tcp('10.77.0.4:9301', { backend: ['10.70.0.1:19301', '[2001:db8::70:2]:19301'] }),
      ],
    }),
  ),
  {
    case: '012',
    proxy: 'six',
    requests: [
      http('[2001:db8::77]:8080', 'one.multi.example:8080', { backend: ['10.70.0.1:8080', '[2001:db8::70:2]:8080'] }),
      tcp('[2001:db8::78]:9300', { backend: ['10.70.0.1:9300', '[2001:db8::70:2]:9300'] }),
    ],
  },
  {
    case: '013',
    proxy: 'zoo',
    apps: [8001, 8002, 8003, 8005, 8006, 8011].map((port) => `10.70.1.1:${port}`),
    requests: [
      inbound(
        http('10.70.1.1:8001', 'zoo.protocols.example:8001', { backend: '10.70.1.1:8001', protocol: 'http/1.1' }),
      ),
      inbound(h2('10.70.1.1:8002', 'zoo.protocols.example:8002', { backend: '10.70.1.1:8002' })),
      inbound(h2('10.70.1.1:8003', 'zoo.protocols.example:8003', { backend: '10.70.1.1:8003' })),
      inbound(tcp('10.70.1.1:8005', { backend: '10.70.1.1:8005' })),
      inbound(tls('10.70.1.1:8006', 'zoo.protocols.example', { backend: '10.70.1.1:8006' })),
      inbound(http('10.70.1.1:8011', 'zoo.protocols.example:8011', { backend: '10.70.1.1:8011' })),
      inbound(tcp('10.70.1.1:8011', { backend: '10.70.1.1:8011' })),
    ],
  },
  {
    case: '015',
    proxy: 'a',
    requests: [
      http(`${STRANGER}:80`, 'private.shared.example', { backend: 'private.shared.example:80' }),
      http(`${STRANGER}:80`, 'both.shared.example', { backend: 'both.shared.example:80' }),
    ],
  },
  {
    case: '015',
    proxy: 'b',
    strangers: [`${STRANGER}:80`],
    requests: [
      http(`${STRANGER}:80`, 'team-b-only.shared.example', { backend: 'team-b-only.shared.example:80' }),
      http(`${STRANGER}:80`, 'local-only.shared.example', { backend: 'local-only.shared.example:80' }),
      // Not exported to it, so that it goes where it was sent.
      http(`${STRANGER}:80`, 'private.shared.example', { backend: `${STRANGER}:80` }),
    ],
  },
  {
    case: '015',
    proxy: 'c',
    strangers: [`${STRANGER}:80`],
    requests: [
      http(`${STRANGER}:80`, 'everyone.shared.example', { backend: 'everyone.shared.example:80' }),
      http(`${STRANGER}:80`, 'both.shared.example', { backend: `${STRANGER}:80` }),
    ],
  },
  { case: '017', proxy: 'sleep', requests: [tcp('10.79.0.1:9999', { backend: '/var/run/app/app.sock' })] },
  {
    case: '019',
    proxy: 'sleep',
    names: { 'a.dyn.example.com': ['198.51.100.90'], 'b.dyn.example.com': ['198.51.100.91'] },
    strangers: ['198.51.100.90:80', '198.51.100.91:443'],
    requests: [
      http('240.0.0.1:80', 'a.dyn.example.com', { backend: '198.51.100.90:80' }),
      tls('240.0.0.1:443', 'b.dyn.example.com', { backend: '198.51.100.91:443' }),
    ],
  },
  {
    case: '020',
    proxy: 'cart',
    apps: ['192.168.40.1:8080'],
    requests: [inbound(http('192.168.40.1:8080', 'cart.vms.example', { backend: '192.168.40.1:8080' }))],
  },
  {
    case: '020',
    proxy: 'sleep',
    requests: [http('240.0.0.1:80', 'cart.vms.example', { backend: '192.168.40.1:8080' })],
  },
  {
    case: '025',
    proxy: 'sleep',
    requests: [
      http('10.96.4.1:80', 'ports', { backend: '10.10.8.1:8080' }),
      h2('10.96.4.1:7000', 'ports:7000', { backend: '10.10.8.1:7000' }),
      tcp('10.96.4.1:7001', { backend: '10.10.8.1:7001' }),
      tls('10.96.4.1:7003', 'ports.default.svc.cluster.local', { backend: '10.10.8.1:7003' }),
      // No protocol is given: the first bytes tell.
      http('10.96.4.1:7005', 'ports:7005', { backend: '10.10.8.1:7005' }),
      tcp('10.96.4.1:7005', { backend: '10.10.8.1:7005' }),
      h2('10.96.4.1:7006', 'ports:7006', { backend: '10.10.8.1:7006' }),
      http('10.96.4.1:7007', 'ports:7007', { backend: '10.10.8.1:7007' }),
    ],
  },
  {
    case: '025',
    proxy: 'ports',
    apps: [8080, 7000, 7001, 7005].map((port) => `10.10.8.1:${port}`),
    requests: [
      inbound(http('10.10.8.1:8080', 'ports', { backend: '10.10.8.1:8080' })),
      inbound(h2('10.10.8.1:7000', 'ports:7000', { backend: '10.10.8.1:7000' })),
      inbound(tcp('10.10.8.1:7001', { backend: '10.10.8.1:7001' })),
      inbound(http('10.10.8.1:7005', 'ports:7005', { backend: '10.10.8.1:7005' })),
    ],
  },
  {
    case: '027',
    proxy: 'sleep',
    requests: [http('240.0.0.1:8000', 'bin-alias.default.svc.cluster.local:8000', { backend: '10.10.1.1:8080' })],
  },
  {
    case: '028',
    proxy: 'sleep',
    requests: [
      http('203.0.113.7:80', 'lb', { backend: '10.10.11.1:8080' }),
      tcp('10.96.5.1:9100', { backend: '10.10.11.1:9100' }),
      http('10.96.5.2:8080', 'np:8080', { backend: '10.10.11.2:8080' }),
    ],
  },
  {
    case: '029',
    proxy: 'a',
    requests: [
      http('10.96.6.3:80', 'close', { backend: '10.10.12.1:80' }),
      http('10.96.6.1:80', 'hidden', { status: 503 }),
    ],
  },
  {
    case: '029',
    proxy: 'c',
    strangers: [`${STRANGER}:80`],
    requests: [
      http('10.96.6.3:80', 'close.team-a', { backend: ['10.10.12.1:80', '10.10.12.2:80'] }),
      http(`${STRANGER}:80`, 'hidden.team-a', { backend: `${STRANGER}:80` }),
    ],
  },
  {
    case: '031',
    proxy: 'sleep',
    requests: [
      http('10.96.18.1:80', 'ext', { backend: ['192.0.2.21:8080', '192.0.2.22:8080', '192.0.2.24:8081'] }),
      tcp('10.96.18.1:9000', { backend: ['192.0.2.21:9000', '192.0.2.22:9000'] }),
    ],
  },
  ...['sleep', 'dual'].map(
    (proxy): SidecarTraffic => ({
      case: '032',
      proxy,
      requests: [
        http('10.96.7.1:80', 'slices', { backend: ['10.10.13.1:8080', '[fd00:10::1]:8080'] }),
        tcp('10.96.7.1:9000', { backend: ['10.10.13.1:9000', '[fd00:10::1]:9000'] }),
      ],
    }),
  ),
  {
    case: '032',
    proxy: 'six',
    requests: [
      http('[fd00:96::71]:80', 'slices', { backend: ['10.10.13.1:8080', '[fd00:10::1]:8080'] }),
      tcp('[fd00:96::71]:9000', { backend: ['10.10.13.1:9000', '[fd00:10::1]:9000'] }),
    ],
  },
  {
    case: '033',
    proxy: 'sleep',
    requests: [
      http('10.96.17.1:80', 'legacy', { backend: ['192.0.2.10:8080', '192.0.2.11:8080', '192.0.2.12:9080'] }),
      tcp('10.96.17.1:5432', { backend: ['192.0.2.10:5432', '192.0.2.11:5432'] }),
    ],
  },
];
