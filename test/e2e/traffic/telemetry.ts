import type { SidecarTraffic } from './expectation.ts';
import { http, inbound, REVIEWS, reviews, TCP_ECHO, tcp } from './requests.ts';

const HTTPBIN = '10.10.1.1:8080';
const toHttpbin = http('10.96.1.1:8000', 'httpbin.default.svc.cluster.local:8000/telemetry', { backend: HTTPBIN });
const intoHttpbin = inbound(http(HTTPBIN, 'httpbin:8000/telemetry', { backend: HTTPBIN }));
const toSleep = http('10.96.1.9:80', 'sleep/telemetry', { backend: '10.10.0.1:80' });

/** Requests that are logged, traced and measured; what becomes of these does not change. */
export const TELEMETRY_TRAFFIC: readonly SidecarTraffic[] = [
  { case: '120', proxy: 'httpbin', apps: [HTTPBIN], requests: [toSleep, intoHttpbin] },
  { case: '121', proxy: 'httpbin', apps: [HTTPBIN], requests: [toSleep, intoHttpbin] },
  { case: '123', proxy: 'httpbin', apps: [HTTPBIN], requests: [toSleep, intoHttpbin] },
  { case: '123', proxy: 'sleep', requests: [toHttpbin, reviews('/traced', { backend: REVIEWS })] },
  { case: '123', proxy: 'reviews', requests: [toHttpbin] },
  { case: '123', proxy: 'ratings', requests: [toHttpbin] },
  { case: '123', proxy: 'catalog', requests: [toHttpbin] },
  { case: '124', proxy: 'httpbin', apps: [HTTPBIN], requests: [toSleep, intoHttpbin] },
  { case: '124', proxy: 'sleep', requests: [toHttpbin, tcp('10.96.1.4:9000', { backend: TCP_ECHO })] },
  { case: '124', proxy: 'tcp-echo', requests: [toHttpbin] },
];
