import type { HTTPRetry } from '#generated/config/specs.ts';
import { registeredStatus } from '../../base/http-status.ts';
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

/** @see istio/istio pkg/config/validation/agent/validation.go `ValidateHTTPRetry` */
export function* retryFindings(at: Place, retry: HTTPRetry | undefined): Generator<Finding> {
  if (retry === undefined) return;
  const { attempts = 0, retryOn = '', perTryTimeout, retryRemoteLocalities } = retry;
  if (attempts === 0 && (perTryTimeout !== undefined || retryOn !== '' || retryRemoteLocalities !== undefined)) {
    yield at.at('attempts').error('0 attempts switch retries off, so the other settings have no use: remove them');
  }
  if (retryOn === '') return;
  for (const condition of retryOn.split(',')) {
    if (CONDITIONS.has(condition) || registeredStatus(condition) !== undefined) continue;
    const advice = CONDITIONS.has(condition.trim()) ? 'write commas without spaces' : 'see x-envoy-retry-on in Envoy';
    yield at.at('retryOn').error(`"${condition}" is not a condition for retries nor a status code: ${advice}`);
  }
}
