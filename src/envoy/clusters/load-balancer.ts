import type { LoadBalancerSettings, OutlierDetection, WarmupConfiguration } from '#generated/config/specs.ts';
import type { envoy } from '#generated/proto/types.ts';
import { protoDuration } from '../../base/proto-duration.ts';
import type { LocalityPolicy } from '../../model/locality-policy.ts';
import type { Service } from '../../model/service.ts';

type Cluster = envoy.config.cluster.v3.Cluster;
type CommonLbConfig = envoy.config.cluster.v3.Cluster.CommonLbConfig;
type SlowStart = envoy.config.cluster.v3.Cluster.SlowStartConfig;

/**
 * How a cluster chooses among its endpoints.
 * @see istio/istio pilot/pkg/networking/core/cluster_traffic_policy.go `applyLoadBalancer`
 */
export function loadBalancer(settings: LoadBalancerSettings | undefined): Cluster {
  const { simple, consistentHash } = settings ?? {};
  if (consistentHash?.maglev !== undefined) {
    const { tableSize } = consistentHash.maglev;
    return { lbPolicy: 'MAGLEV', ...(isSet(tableSize) ? { maglevLbConfig: { tableSize } } : {}) };
  }
  if (consistentHash?.ringHash !== undefined) {
    const { minimumRingSize } = consistentHash.ringHash;
    return { lbPolicy: 'RING_HASH', ...(isSet(minimumRingSize) ? { ringHashLbConfig: { minimumRingSize } } : {}) };
  }
  if (consistentHash !== undefined) {
    const { minimumRingSize } = consistentHash;
    return {
      lbPolicy: 'RING_HASH',
      ringHashLbConfig: { minimumRingSize: isSet(minimumRingSize) ? minimumRingSize : 1024 },
    };
  }
  const slowStartConfig = slowStart(settings);
  switch (simple) {
    case 'RANDOM':
      return { lbPolicy: 'RANDOM' };
    case 'PASSTHROUGH':
      return { lbPolicy: 'CLUSTER_PROVIDED' };
    case 'ROUND_ROBIN':
      return { lbPolicy: 'ROUND_ROBIN', ...(slowStartConfig ? { roundRobinLbConfig: { slowStartConfig } } : {}) };
    default:
      return { lbPolicy: 'LEAST_REQUEST', ...(slowStartConfig ? { leastRequestLbConfig: { slowStartConfig } } : {}) };
  }
}

function isSet(value: number | string | undefined): value is number | string {
  return value !== undefined && Number(value) !== 0;
}

function slowStart({ warmup, warmupDurationSecs }: LoadBalancerSettings = {}): SlowStart | undefined {
  if (warmup !== undefined) return warmedUp(warmup);
  return warmupDurationSecs === undefined ? undefined : { slowStartWindow: protoDuration(warmupDurationSecs) };
}

/** An Envoy wants a runtime key where it takes a double; this one names nothing. */
const NO_RUNTIME_KEY = '(';

function warmedUp({ duration, aggression = 1, minimumPercent = 10 }: WarmupConfiguration): SlowStart {
  return {
    slowStartWindow: protoDuration(duration),
    aggression: { defaultValue: aggression, runtimeKey: NO_RUNTIME_KEY },
    minWeightPercent: { value: minimumPercent },
  };
}

export interface CommonLbInput {
  readonly service: Pick<Service, 'trafficDistribution' | 'persistentSession'>;
  readonly outlierDetection: OutlierDetection | undefined;
  readonly localityPolicy: LocalityPolicy | undefined;
  /** Draining endpoints are kept for the sessions that are bound to them. */
  readonly keepsDraining: boolean;
}

/** What all policies of choice have in common: when to panic, and how localities count. */
export function commonLbConfig({
  service,
  outlierDetection,
  localityPolicy,
  keepsDraining,
}: CommonLbInput): CommonLbConfig {
  return {
    healthyPanicThreshold: panicThreshold(service, outlierDetection),
    ...localityConfig(localityPolicy, outlierDetection !== undefined),
    ...(keepsDraining ? { overrideHostStatus: { statuses: ['HEALTHY', 'DRAINING', 'UNKNOWN', 'DEGRADED'] } } : {}),
  };
}

/** Endpoints that are known to be unhealthy are sent, so panic, which sends traffic to them, is off unless a rule wants it. */
function panicThreshold(
  { trafficDistribution }: CommonLbInput['service'],
  outlier: OutlierDetection | undefined,
): envoy.type.v3.Percent {
  const percent = outlier?.minHealthPercent ?? 0;
  return percent > 0 && trafficDistribution === undefined ? { value: percent } : {};
}

function localityConfig(policy: LocalityPolicy | undefined, outlierDetected: boolean): CommonLbConfig {
  if (policy === undefined) return {};
  if (policy.kind === 'zone-aware') {
    const { enabled, minClusterSize } = policy.setting;
    return {
      zoneAwareLbConfig: {
        ...(enabled === false ? { routingEnabled: {} } : {}),
        ...(minClusterSize === undefined ? {} : { minClusterSize }),
      },
    };
  }
  const { distribute = [], failover = [], failoverPriority = [] } = policy.setting;
  const failsOver = (policy.force || outlierDetected) && (failover.length > 0 || failoverPriority.length > 0);
  return failsOver || distribute.length > 0 ? { localityWeightedLbConfig: {} } : {};
}
