import type { HTTPFaultInjection, HTTPFaultInjectionAbort, HTTPFaultInjectionDelay } from '#generated/config/specs.ts';
import type { envoy } from '#generated/proto/types.ts';
import { protoDuration } from '../../base/proto-duration.ts';
import { fractionalPercent, wholePercent } from './percentage.ts';

type HTTPFault = envoy.extensions.filters.http.fault.v3.HTTPFault;

const GRPC_STATUSES = [
  'OK',
  'CANCELLED',
  'UNKNOWN',
  'INVALID_ARGUMENT',
  'DEADLINE_EXCEEDED',
  'NOT_FOUND',
  'ALREADY_EXISTS',
  'PERMISSION_DENIED',
  'RESOURCE_EXHAUSTED',
  'FAILED_PRECONDITION',
  'ABORTED',
  'OUT_OF_RANGE',
  'UNIMPLEMENTED',
  'INTERNAL',
  'UNAVAILABLE',
  'DATA_LOSS',
  'UNAUTHENTICATED',
] as const;

/**
 * Delays and aborts that Envoy knows; Istio's exponential delay and HTTP/2 error are not among them and are left out.
 * @see istio/istio pilot/pkg/networking/core/route/route.go `TranslateFault`
 */
export function httpFault({ delay, abort }: HTTPFaultInjection): HTTPFault {
  const delayed = delay && faultDelay(delay);
  const aborted = abort && faultAbort(abort);
  return { ...(delayed && { delay: delayed }), ...(aborted && { abort: aborted }) };
}

function faultDelay({ fixedDelay, percentage, percent = 0 }: HTTPFaultInjectionDelay): HTTPFault['delay'] {
  if (fixedDelay === undefined) return undefined;
  return {
    fixedDelay: protoDuration(fixedDelay),
    percentage: percentage === undefined ? wholePercent(percent) : fractionalPercent(percentage),
  };
}

function faultAbort({ httpStatus, grpcStatus, percentage }: HTTPFaultInjectionAbort): HTTPFault['abort'] {
  const share = percentage && { percentage: fractionalPercent(percentage) };
  if (httpStatus !== undefined) return { httpStatus, ...share };
  if (grpcStatus === undefined) return undefined;
  const code = (GRPC_STATUSES as readonly string[]).indexOf(grpcStatus);
  return { grpcStatus: Math.max(code, 0), ...share };
}
