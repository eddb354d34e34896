import type { HTTPRetry } from '#generated/config/specs.ts';
import type { Finding, Place } from '../finding.ts';

/** Conditions of Envoy's x-envoy-retry-on and x-envoy-retry-grpc-on. */
const CONDITIONS: ReadonlySet<string> = new Set([
  '5xx',
  'gateway-error',
  'reset',
  'reset-before-request',
  'connect-failure',
  'retriable-4xx',
  'refused-stream',
  'retriable-status-codes',
  'retriable-headers',
  'envoy-ratelimited',
  'http3-post-connect-failure',
  'cancelled',
  'deadline-exceeded',
  'internal',
  'resource-exhausted',
  'unavailable',
]);

/** Registered status codes, as ranges. @see https://pkg.go.dev/net/http#StatusText */
const STATUSES: readonly (readonly [first: number, last: number])[] = [
  [100, 103],
  [200, 208],
  [226, 226],
  [300, 305],
  [307, 308],
  [400, 418],
  [421, 426],
  [428, 429],
  [431, 431],
  [451, 451],
  [500, 508],
  [510, 511],
];

function isStatus(text: string): boolean {
  const status = /^[+-]?\d+$/.test(text) ? Number(text) : 0;
  return STATUSES.some(([first, last]) => status >= first && status <= last);
}

/** @see istio/istio pkg/config/validation/agent/validation.go `ValidateHTTPRetry` */
export function* retryFindings(at: Place, retry: HTTPRetry | undefined): Generator<Finding> {
  if (retry === undefined) return;
  const { attempts = 0, retryOn = '', perTryTimeout, retryRemoteLocalities } = retry;
  if (attempts === 0 && (perTryTimeout !== undefined || retryOn !== '' || retryRemoteLocalities !== undefined)) {
    yield at.at('attempts').error('0 attempts switch retries off, so the other settings have no use: remove them');
  }
  if (retryOn === '') return;
  for (const condition of retryOn.split(',')) {
    if (CONDITIONS.has(condition) || isStatus(condition)) continue;
    const advice = CONDITIONS.has(condition.trim()) ? 'write commas without spaces' : 'see x-envoy-retry-on in Envoy';
    yield at.at('retryOn').error(`"${condition}" is not a condition for retries nor a status code: ${advice}`);
  }
}
