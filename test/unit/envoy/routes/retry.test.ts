import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HTTPRetry } from '#generated/config/specs.ts';
import { inboundRouteConfiguration } from '../../../../src/envoy/routes/inbound.ts';
import { inboundRetryPolicy, retryPolicy } from '../../../../src/envoy/routes/retry.ts';
import { encodeMessage } from '../../../../src/proto/message.ts';

function policy(settings: HTTPRetry | undefined, consistentHash = false) {
  const made = retryPolicy(settings, consistentHash);
  if (made !== undefined) encodeMessage('envoy.config.route.v3.RetryPolicy', made);
  return made;
}

test('requests are repeated twice by default, and never when that is said', () => {
  const made = policy(undefined);
  assert.equal(made?.numRetries, 2);
  assert.equal(made?.retryOn, 'connect-failure,refused-stream,unavailable,cancelled,retriable-status-codes');
  assert.equal(made?.retryHostPredicate?.[0]?.name, 'envoy.retry_host_predicates.previous_hosts');
  for (const settings of [{}, { attempts: 0 }, { attempts: -1 }]) {
    assert.equal(policy(settings), undefined);
    assert.equal(inboundRetryPolicy(settings), undefined);
  }
});

test('status codes may stand among the conditions', () => {
  const cases: readonly (readonly [string, string, readonly number[] | undefined])[] = [
    ['5xx', '5xx', undefined],
    ['5xx, 503 ,', '5xx,retriable-status-codes', [503]],
    ['retriable-status-codes,418', 'retriable-status-codes', [418]],
    ['429', ',retriable-status-codes', [429]],
    ['+503,-503', '-503,retriable-status-codes', [503]],
    ['999,reset', '999,reset', undefined],
  ];
  for (const [retryOn, names, codes] of cases) {
    const made = policy({ attempts: 1, retryOn });
    assert.equal(made?.retryOn, names);
    assert.deepEqual(made?.retriableStatusCodes, codes);
  }
});

test('whether another host is preferred depends on the hash, unless it is said', () => {
  const avoids = (settings: HTTPRetry, hash: boolean) => policy(settings, hash)?.retryHostPredicate !== undefined;
  assert.equal(avoids({ attempts: 1 }, false), true);
  assert.equal(avoids({ attempts: 1 }, true), false);
  assert.equal(avoids({ attempts: 1, retryIgnorePreviousHosts: false }, false), false);
  assert.equal(avoids({ attempts: 1, retryIgnorePreviousHosts: true }, true), true);
});

test('time limits and other localities are taken over', () => {
  const made = policy({ attempts: 3, perTryTimeout: '1500ms', backoff: '1m', retryRemoteLocalities: true });
  assert.equal(made?.perTryTimeout, '1.500s');
  assert.deepEqual(made?.retryBackOff, { baseInterval: '60s' });
  assert.equal(made?.retryPriority?.name, 'envoy.retry_priorities.previous_priorities');
});

test('requests to the own workload have no time limit, and those of gRPC are not repeated', () => {
  const route = (protocol: 'HTTP' | 'GRPC') => {
    const made = inboundRouteConfiguration({
      cluster: 'inbound|8080||',
      hostname: 'a.com',
      port: 80,
      protocol,
      retry: undefined,
    });
    encodeMessage('envoy.config.route.v3.RouteConfiguration', made);
    assert.equal(made.virtualHosts?.[0]?.name, 'inbound|http|80');
    return made.virtualHosts?.[0]?.routes?.[0]?.route;
  };
  assert.deepEqual(route('HTTP')?.retryPolicy, { retryOn: 'reset-before-request', numRetries: 2 });
  assert.equal(route('GRPC')?.retryPolicy, undefined);
  assert.deepEqual(route('GRPC')?.maxStreamDuration, { maxStreamDuration: '0s', grpcTimeoutHeaderMax: '0s' });
});
