import type { SidecarTraffic } from './expectation.ts';
import { http, inbound, TCP_ECHO, tcp, tls } from './requests.ts';

const GATEWAY = '10.20.0.1';
const HTTPBIN = '10.10.1.1:8080';
/** Certificates of clients are those of tests, which no trust domain knows. */
const ALPN = { alpn: ['istio'] };

/** Requests from outside through routers, with who answers. */
export const GATEWAY_TRAFFIC: readonly SidecarTraffic[] = [
  {
    case: '003',
    proxy: 'gateway',
    requests: [
      inbound(http(`${GATEWAY}:8080`, 'httpbin.example.com/status/200', { backend: HTTPBIN })),
      inbound(http(`${GATEWAY}:8080`, 'httpbin.example.com/elsewhere', { status: 404 })),
      inbound(http(`${GATEWAY}:8080`, 'unknown.example.com/status/200', { status: 404 })),
    ],
  },
  {
    case: '070',
    proxy: 'gateway',
    sds: true,
    requests: [
      inbound(https('one.example.com', { backend: HTTPBIN })),
      inbound(https('two.example.com', { backend: HTTPBIN })),
      inbound(https('three.example.com', { backend: HTTPBIN })),
      inbound(https('missing.example.com', { closed: true })),
      inbound(https('unknown.example.com', { closed: true })),
    ],
  },
  {
    case: '072',
    proxy: 'gateway',
    requests: [
      // TLS of the client's own ends at the server behind.
      inbound(tls(`${GATEWAY}:8443`, 'a.example.com', { backend: [HTTPBIN, ...TCP_ECHO] })),
      inbound(tls(`${GATEWAY}:8443`, 'x.pt.example.com', { backend: TCP_ECHO })),
      inbound(tls(`${GATEWAY}:8443`, 'unknown.example.com', { closed: true })),
    ],
  },
  {
    case: '073',
    proxy: 'gateway',
    requests: [
      {
        at: 'world',
        probe: {
          to: `${GATEWAY}:15443`,
          host: 'httpbin',
          tls: { servername: 'outbound_.8000_._.httpbin.default.svc.cluster.local', ...ALPN },
        },
        expect: { backend: HTTPBIN, tls: { servername: 'outbound_.8000_._.httpbin.default.svc.cluster.local' } },
      },
    ],
  },
  {
    case: '075',
    proxy: 'gateway',
    requests: [inbound(tcp(`${GATEWAY}:31400`, { backend: [...TCP_ECHO, HTTPBIN] }))],
  },
];

function https(host: string, expect: SidecarTraffic['requests'][number]['expect']): SidecarTraffic['requests'][number] {
  return http(`${GATEWAY}:8443`, host, expect, { tls: { servername: host } });
}
