import type {
  LoadBalancerSettings,
  LocalityLoadBalancerSetting,
  ZoneAwareLoadBalancerSetting,
} from '#generated/config/specs.ts';
import { NETWORK_LABEL } from '../config/network-labels.ts';
import type { Service } from './service.ts';

/** How the localities of a service's endpoints count for a proxy. */
export type LocalityPolicy =
  | { readonly kind: 'locality'; readonly setting: LocalityLoadBalancerSetting; readonly force: boolean }
  | { readonly kind: 'zone-aware'; readonly setting: ZoneAwareLoadBalancerSetting };

/** Labels of endpoints by which a Service's `trafficDistribution` prefers them, the most important first. */
const DISTRIBUTIONS: Readonly<Record<string, readonly string[]>> = {
  PreferSameZone: [NETWORK_LABEL, 'topology.kubernetes.io/region', 'topology.kubernetes.io/zone'],
  PreferSameNode: [
    NETWORK_LABEL,
    'topology.kubernetes.io/region',
    'topology.kubernetes.io/zone',
    'topology.istio.io/subzone',
    'kubernetes.io/hostname',
  ],
};

/** MeshConfig's part in it. */
export interface MeshLocality {
  readonly localityLbSetting?: LocalityLoadBalancerSetting | undefined;
  readonly zoneAwareLbSetting?: ZoneAwareLoadBalancerSetting | undefined;
}

/**
 * The DestinationRule's setting, else the Service's traffic distribution, else the mesh's; undefined: localities do not count.
 * @see istio/istio pilot/pkg/networking/core/loadbalancer/loadbalancer.go `GetEffectiveLbSetting`
 */
export function localityPolicy(
  rule: LoadBalancerSettings | undefined,
  service: Pick<Service, 'trafficDistribution'>,
  mesh: MeshLocality,
): LocalityPolicy | undefined {
  const own = rule?.zoneAwareLbSetting ? zoneAware(rule.zoneAwareLbSetting) : locality(rule?.localityLbSetting);
  if (rule?.zoneAwareLbSetting || rule?.localityLbSetting) return own;
  const failoverPriority = service.trafficDistribution && DISTRIBUTIONS[service.trafficDistribution];
  if (failoverPriority) return { kind: 'locality', setting: { enabled: true, failoverPriority }, force: true };
  return mesh.zoneAwareLbSetting ? zoneAware(mesh.zoneAwareLbSetting) : locality(mesh.localityLbSetting);
}

function zoneAware(setting: ZoneAwareLoadBalancerSetting): LocalityPolicy {
  return { kind: 'zone-aware', setting };
}

function locality(setting: LocalityLoadBalancerSetting | undefined): LocalityPolicy | undefined {
  return setting === undefined || setting.enabled === false ? undefined : { kind: 'locality', setting, force: false };
}

/** `failoverPriority` entries: `label`, or `label=value` where the value stands for the proxy's own. */
export interface FailoverLabel {
  readonly label: string;
  /** What a proxy's label counts as. */
  readonly value?: string;
}

export function failoverLabels(failoverPriority: readonly string[] = []): readonly FailoverLabel[] {
  const entries = failoverPriority.map((entry) => entry.split('='));
  const values = new Map(
    entries.flatMap(([label = '', value], i) => (entries[i]?.length === 2 ? [[label, value ?? '']] : [])),
  );
  return entries.map(([label = '']) => {
    const value = values.get(label);
    return value === undefined ? { label } : { label, value };
  });
}

/**
 * What the priorities and weights of endpoints depend on; undefined: on nothing of the proxy, so that all proxies share them.
 *
 * @param outlierDetection without it an Envoy never learns that it has to fail over
 */
export function activeLocalityPolicy(
  policy: LocalityPolicy | undefined,
  outlierDetection: boolean,
): LocalityPolicy | undefined {
  if (policy?.kind === 'zone-aware') return policy.setting.enabled === false ? undefined : policy;
  if (policy === undefined) return undefined;
  const weighted = (policy.setting.distribute?.length ?? 0) > 0;
  return weighted || outlierDetection || policy.force ? policy : undefined;
}
