import type { SidecarTraffic } from './expectation.ts';
import { absolute, http, inbound, STRANGER, TCP_ECHO, tcp } from './requests.ts';

const HTTPBIN = '10.10.1.1:8080';
const SLEEP = '10.10.0.1:80';

const toHttpbin = (path: string, expect: Parameters<typeof http>[2], more?: Parameters<typeof http>[3]) =>
  inbound(http(HTTPBIN, `httpbin:8000${path}`, expect, more));
const toSleep = (path: string, expect: Parameters<typeof http>[2]) => inbound(http(SLEEP, `sleep${path}`, expect));
const callsHttpbin = http('10.96.1.1:8000', 'httpbin:8000/a', { backend: HTTPBIN });

const atHttpbin = { proxy: 'httpbin', apps: [HTTPBIN] } as const;
const atSleep = { proxy: 'sleep', apps: [SLEEP] } as const;

/** Requests on which policies of peers, tokens and rules decide, and those that MeshConfig has a say in. */
export const POLICY_TRAFFIC: readonly SidecarTraffic[] = [
  // Nobody may come in plaintext, and without an SDS server nobody can come otherwise.
  { case: '100', ...atHttpbin, requests: [toHttpbin('/a', { closed: true })] },
  { case: '100', ...atHttpbin, sds: true, requests: [toHttpbin('/a', { closed: true })] },
  {
    case: '100',
    proxy: 'catalog',
    sds: true,
    apps: ['10.11.1.1:8080'],
    requests: [inbound(http('10.11.1.1:8080', 'catalog.team-a', { backend: '10.11.1.1:8080' }))],
  },
  {
    case: '100',
    proxy: 'orders',
    sds: true,
    apps: ['10.11.2.1:8080', '10.11.2.1:5000'],
    requests: [
      inbound(http('10.11.2.1:8080', 'orders.team-b', { backend: '10.11.2.1:8080' })),
      inbound(tcp('10.11.2.1:5000', { backend: '10.11.2.1:5000' })),
    ],
  },
  { case: '100', ...atSleep, sds: true, requests: [toSleep('/a', { closed: true })] },
  {
    case: '102',
    proxy: 'mix',
    sds: true,
    apps: ['10.10.5.5:8080', '10.10.5.5:9000', '10.10.5.5:7777'],
    requests: [
      inbound(http('10.10.5.5:8080', 'mix', { backend: '10.10.5.5:8080' })),
      inbound(http('10.10.5.5:7777', 'mix:7777', { backend: '10.10.5.5:7777' })),
      inbound(tcp('10.10.5.5:9000', { closed: true })),
    ],
  },
  {
    case: '103',
    ...atHttpbin,
    requests: [
      toHttpbin('/a', { backend: HTTPBIN }),
      toHttpbin('/a', { status: 401 }, { headers: { 'x-jwt': 'Bearer x.y.z' } }),
      toHttpbin('/a?token=x.y.z', { status: 401 }),
    ],
  },
  {
    case: '105',
    ...atHttpbin,
    requests: [
      toHttpbin('/health', { backend: HTTPBIN }),
      toHttpbin('/health', { status: 403 }, { method: 'TRACE' }),
      toHttpbin('/else', { status: 403 }),
    ],
  },
  { case: '105', ...atSleep, requests: [toSleep('/a', { backend: SLEEP })] },
  { case: '106', ...atHttpbin, requests: [toHttpbin('/a', { status: 403 })] },
  { case: '106', ...atSleep, requests: [toSleep('/a', { backend: SLEEP })] },
  {
    case: '106',
    proxy: 'catalog',
    apps: ['10.11.1.1:8080'],
    requests: [inbound(http('10.11.1.1:8080', 'catalog.team-a', { status: 403 }))],
  },
  // Its authorizer answers everything with 200 over HTTP, and nothing that is gRPC.
  {
    case: '108',
    ...atHttpbin,
    requests: [toHttpbin('/open', { backend: HTTPBIN }), toHttpbin('/admin', { backend: HTTPBIN })],
  },
  {
    case: '108',
    proxy: 'tcp-echo',
    apps: ['10.10.4.1:9000'],
    requests: [inbound(tcp('10.10.4.1:9000', { closed: true }))],
  },
  { case: '108', ...atSleep, requests: [toSleep('/open', { backend: SLEEP }), toSleep('/x', { status: 403 })] },
  {
    case: '108',
    proxy: 'authz',
    apps: ['10.10.6.6:8000'],
    requests: [inbound(http('10.10.6.6:8000', 'authz:8000', { status: 403 }))],
  },
  {
    case: '109',
    ...atHttpbin,
    requests: [
      toHttpbin('/audit', { backend: HTTPBIN }),
      toHttpbin('/a', { backend: HTTPBIN }, { method: 'POST', headers: { 'content-length': '0' } }),
    ],
  },
  // Modules that nobody fetches refuse everything.
  { case: '140', ...atHttpbin, requests: [toHttpbin('/a', { status: 403 })] },
  { case: '140', ...atSleep, requests: [toSleep('/a', { backend: SLEEP })] },
  { case: '142', ...atHttpbin, requests: [toHttpbin('/a', { status: 403 })] },
  { case: '143', ...atHttpbin, requests: [toHttpbin('/a', { backend: HTTPBIN })] },
  { case: '143', proxy: 'old', apps: [HTTPBIN], requests: [toHttpbin('/a', { backend: HTTPBIN })] },
  {
    case: '180',
    proxy: 'httpbin',
    apps: ['127.0.0.1:8080'],
    requests: [
      toHttpbin('/a', { backend: '127.0.0.1:8080' }),
      tcp('10.96.1.4:9000', { backend: TCP_ECHO }),
      tcp(`${STRANGER}:4444`, { closed: true }),
    ],
  },
  { case: '180', proxy: 'sleep', requests: [callsHttpbin] },
  {
    case: '182',
    ...atHttpbin,
    requests: [
      toHttpbin('/a//b', { backend: HTTPBIN, path: '/a/b' }),
      absolute('127.0.0.1:15080', 'sleep.default.svc.cluster.local', '/x', { backend: SLEEP }),
    ],
  },
  { case: '184', proxy: 'sleep', requests: [callsHttpbin] },
  { case: '185', ...atHttpbin, requests: [toHttpbin('/a', { backend: HTTPBIN, seen: { 'x-request-id': undefined } })] },
  { case: '185', proxy: 'sleep', requests: [callsHttpbin] },
  {
    case: '186',
    proxy: 'sleep',
    strangers: [`${STRANGER}:80`],
    names: { 'unknown.example': [STRANGER] },
    requests: [callsHttpbin, http('240.0.0.1:80', 'unknown.example', { backend: `${STRANGER}:80` })],
  },
  { case: '187', proxy: 'sleep', requests: [callsHttpbin] },
];
