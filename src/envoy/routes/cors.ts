import type { CorsPolicy } from '#generated/config/specs.ts';
import type { envoy } from '#generated/proto/types.ts';
import { parseDuration } from '../../base/duration.ts';
import { stringMatcher } from './match.ts';

/** @see istio/istio pilot/pkg/networking/core/route/route.go `TranslateCORSPolicy` */
export function corsPolicy(policy: CorsPolicy): envoy.extensions.filters.http.cors.v3.CorsPolicy {
  const { allowOrigins = [], allowOrigin = [], allowMethods, allowHeaders, exposeHeaders, maxAge } = policy;
  const origins =
    allowOrigins.length > 0
      ? allowOrigins.flatMap((origin) => stringMatcher(origin) ?? [])
      : allowOrigin.map((exact) => ({ exact }));
  return {
    forwardNotMatchingPreflights: policy.unmatchedPreflights !== 'IGNORE',
    filterEnabled: { defaultValue: { numerator: 100 } },
    ...(origins.length > 0 && { allowOriginStringMatch: origins }),
    ...(policy.allowCredentials !== undefined && { allowCredentials: policy.allowCredentials }),
    ...(allowHeaders && { allowHeaders: allowHeaders.join() }),
    ...(allowMethods && { allowMethods: allowMethods.join() }),
    ...(exposeHeaders && { exposeHeaders: exposeHeaders.join() }),
    // Whole seconds, as text.
    ...(maxAge !== undefined && { maxAge: String(Math.trunc((parseDuration(maxAge) ?? 0) / 1000)) }),
  };
}
