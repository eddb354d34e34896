import type { HTTPRetry } from '#generated/config/specs.ts';
import type { envoy } from '#generated/proto/types.ts';
import { registeredStatus } from '../../base/http-status.ts';
import { protoDuration } from '../../base/proto-duration.ts';

type RetryPolicy = envoy.config.route.v3.RetryPolicy;

const DEFAULT_ATTEMPTS = 2;
const DEFAULT_CONDITIONS = 'connect-failure,refused-stream,unavailable,cancelled,retriable-status-codes';
/** What never reached the application can be sent again whatever its method: an idle connection that was just closed. */
const DEFAULT_INBOUND_CONDITIONS = 'reset-before-request';
const STATUS_CODES = 'retriable-status-codes';

const PREVIOUS_HOSTS = {
  name: 'envoy.retry_host_predicates.previous_hosts',
  typedConfig: {
    '@type': 'type.googleapis.com/envoy.extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate',
  },
} as const;

const PREVIOUS_PRIORITIES = {
  name: 'envoy.retry_priorities.previous_priorities',
  typedConfig: {
    '@type': 'type.googleapis.com/envoy.extensions.retry.priority.previous_priorities.v3.PreviousPrioritiesConfig',
    updateFrequency: 2,
  },
} as const;

/**
 * How a proxy repeats requests to a destination, or undefined when it does not.
 *
 * @param settings the route's, else the mesh's `defaultHttpRetryPolicy`; absent: twice, on failures that are safe to repeat
 * @param consistentHash the destination was chosen by hash, so that another host is not to be preferred
 * @see istio/istio pilot/pkg/networking/core/route/retry/retry.go `ConvertPolicy`
 */
export function retryPolicy(settings: HTTPRetry | undefined, consistentHash: boolean): RetryPolicy | undefined {
  const attempts = settings === undefined ? DEFAULT_ATTEMPTS : (settings.attempts ?? 0);
  if (attempts <= 0) return undefined;
  const avoidPrevious = settings?.retryIgnorePreviousHosts ?? !consistentHash;
  return {
    ...conditions(settings?.retryOn, DEFAULT_CONDITIONS),
    numRetries: attempts,
    hostSelectionRetryMaxAttempts: '5',
    ...(avoidPrevious && { retryHostPredicate: [PREVIOUS_HOSTS] }),
    ...(settings?.perTryTimeout !== undefined && { perTryTimeout: protoDuration(settings.perTryTimeout) }),
    ...(settings?.retryRemoteLocalities && { retryPriority: PREVIOUS_PRIORITIES }),
    ...backOff(settings),
  };
}

/**
 * How a proxy repeats requests to its own workload. There is only one host, so that only attempts, conditions and back-off count.
 *
 * @param settings the mesh's `defaultInboundHttpRetryPolicy`
 * @see istio/istio pilot/pkg/networking/core/route/retry/retry.go `ConvertInboundPolicy`
 */
export function inboundRetryPolicy(settings: HTTPRetry | undefined): RetryPolicy | undefined {
  const attempts = settings === undefined ? DEFAULT_ATTEMPTS : (settings.attempts ?? 0);
  if (attempts <= 0) return undefined;
  return {
    ...conditions(settings?.retryOn, DEFAULT_INBOUND_CONDITIONS),
    numRetries: attempts,
    ...backOff(settings),
  };
}

function backOff(settings: HTTPRetry | undefined): Pick<RetryPolicy, 'retryBackOff'> {
  return settings?.backoff === undefined ? {} : { retryBackOff: { baseInterval: protoDuration(settings.backoff) } };
}

/** Istio's `retryOn` may hold status codes among Envoy's conditions. */
function conditions(retryOn = '', fallback: string): Pick<RetryPolicy, 'retryOn' | 'retriableStatusCodes'> {
  if (retryOn === '') return { retryOn: fallback };
  const parts = retryOn
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
  const codes = parts.flatMap((part) => registeredStatus(part) ?? []);
  const names = parts.filter((part) => registeredStatus(part) === undefined).join(',');
  if (codes.length === 0) return { retryOn: names };
  // Istio puts the comma even where no other condition stands; Envoy skips the empty part.
  const withCodes = names.includes(STATUS_CODES) ? names : `${names},${STATUS_CODES}`;
  return { retryOn: withCodes, retriableStatusCodes: codes };
}
