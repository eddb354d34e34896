import type { OutlierDetection } from '#generated/config/specs.ts';
import type { envoy } from '#generated/proto/types.ts';
import { protoDuration } from '../../base/proto-duration.ts';

/**
 * Only what a rule counts ejects; Envoy's ejection by success rate is off.
 * @see istio/istio pilot/pkg/networking/core/cluster_traffic_policy.go `applyOutlierDetection`
 */
export function outlierDetection(settings: OutlierDetection): envoy.config.cluster.v3.OutlierDetection {
  const { consecutive5xxErrors, consecutiveGatewayErrors, consecutiveLocalOriginFailures = 0, interval } = settings;
  const { baseEjectionTime, maxEjectionPercent = 0, splitExternalLocalOriginErrors } = settings;
  return {
    enforcingSuccessRate: 0,
    ...(consecutive5xxErrors === undefined
      ? {}
      : { consecutive5xx: consecutive5xxErrors, enforcingConsecutive5xx: enforced(consecutive5xxErrors) }),
    ...(consecutiveGatewayErrors === undefined
      ? {}
      : {
          consecutiveGatewayFailure: consecutiveGatewayErrors,
          enforcingConsecutiveGatewayFailure: enforced(consecutiveGatewayErrors),
        }),
    ...(interval ? { interval: protoDuration(interval) } : {}),
    ...(baseEjectionTime ? { baseEjectionTime: protoDuration(baseEjectionTime) } : {}),
    ...(maxEjectionPercent > 0 ? { maxEjectionPercent } : {}),
    ...(splitExternalLocalOriginErrors
      ? {
          splitExternalLocalOriginErrors,
          ...(consecutiveLocalOriginFailures > 0
            ? {
                consecutiveLocalOriginFailure: consecutiveLocalOriginFailures,
                enforcingConsecutiveLocalOriginFailure: 100,
              }
            : {}),
          enforcingLocalOriginSuccessRate: 0,
        }
      : {}),
  };
}

/** Zero errors mean never. */
function enforced(errors: number): number {
  return errors > 0 ? 100 : 0;
}
