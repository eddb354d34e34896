import type { SidecarTraffic } from './expectation.ts';
import { http, inbound, STRANGER } from './requests.ts';

const HTTPBIN = '10.10.1.1:8080';

const toHttpbin = (path: string, host = 'httpbin:8000') =>
  http('10.96.1.1:8000', `${host}${path}`, { backend: HTTPBIN });
const fromOutside = inbound(http(HTTPBIN, 'httpbin:8000/in', { backend: HTTPBIN }));

/** Requests through what EnvoyFilters have changed. */
export const PATCH_TRAFFIC: readonly SidecarTraffic[] = [
  { case: '130', proxy: 'httpbin', apps: [HTTPBIN], requests: [fromOutside] },
  { case: '130', proxy: 'sleep', requests: [toHttpbin('/x')] },
  { case: '132', proxy: 'httpbin', apps: [HTTPBIN], requests: [fromOutside] },
  {
    case: '132',
    proxy: 'sleep',
    strangers: [`${STRANGER}:80`],
    requests: [
      toHttpbin('/x'),
      // Its listener is removed: the connection goes where it was going.
      http(`${STRANGER}:80`, 'elsewhere.example', { backend: `${STRANGER}:80` }),
    ],
  },
  {
    case: '133',
    proxy: 'sleep',
    strangers: [`${STRANGER}:8000`],
    requests: [
      { ...toHttpbin('/x'), expect: { backend: HTTPBIN, seen: { 'x-rc': '1' } } },
      { ...toHttpbin('/x', 'extra.example.com'), expect: { backend: HTTPBIN, seen: { 'x-rc': '1' } } },
      http('10.96.1.1:8000', 'added.example.com', { status: 200, body: '' }),
      // No virtual host is for all others any more.
      http('10.96.1.1:8000', 'elsewhere.example', { status: 404 }),
    ],
  },
  { case: '133', proxy: 'httpbin', apps: [HTTPBIN], requests: [fromOutside] },
  {
    case: '133',
    proxy: 'gateway',
    requests: [
      inbound(http('10.20.0.1:8080', 'any.example.com/x', { backend: HTTPBIN, host: 'r.example.com' })),
      // Gateways share routes of plaintext HTTP: the patch that names one is for none of these.
      inbound(http('10.20.0.1:8080', 'any.example.com/robots.txt', { backend: HTTPBIN })),
    ],
  },
  { case: '135', proxy: 'httpbin', apps: [HTTPBIN], requests: [fromOutside] },
];
