import type { LocalityLoadBalancerSettingDistribute } from '#generated/config/specs.ts';
import type { Labels } from '../../base/labels.ts';
import { NETWORK_LABEL } from '../../config/network-labels.ts';
import { type Locality, parseLocality } from '../../model/endpoint.ts';
import { failoverLabels, type LocalityPolicy } from '../../model/locality-policy.ts';
import { type EndpointGroup, totalWeight } from './groups.ts';

/** Where the proxy is. */
export interface LocalityView {
  readonly locality: Locality;
  /** The proxy's values of the labels that the policy's `failoverPriority` names; absent when it has no labels at all. */
  readonly labels?: Labels;
}

/** What of a proxy a policy looks at. */
export interface LocalityNeeds {
  readonly locality: boolean;
  /** Names of labels. */
  readonly labels: readonly string[];
}

export function localityNeeds(policy: LocalityPolicy | undefined): LocalityNeeds | undefined {
  if (policy === undefined) return undefined;
  const { failoverPriority = [], failover = [] } = policy.setting;
  const weighted = policy.kind === 'locality' && (policy.setting.distribute?.length ?? 0) > 0;
  const labels = weighted ? [] : failoverLabels(failoverPriority).map(({ label }) => label);
  return { locality: policy.kind === 'zone-aware' || labels.length === 0 || failover.length > 0, labels };
}

interface Failover {
  readonly from?: string;
  readonly to?: string;
}

/**
 * Gives groups the priorities and weights that a policy asks for from where the proxy is.
 *
 * @param failover whether an Envoy can learn that it has to fail over: outlier detection is on
 * @see istio/istio pilot/pkg/networking/core/loadbalancer/loadbalancer.go
 */
export function balanced(
  groups: readonly EndpointGroup[],
  policy: LocalityPolicy,
  view: LocalityView,
  failover: boolean,
): readonly EndpointGroup[] {
  if (policy.kind === 'zone-aware') {
    const { setting } = policy;
    if (setting.enabled === false) return groups;
    return byRegion(byLabels(groups, setting.failoverPriority, view.labels), setting.failover ?? [], view.locality);
  }
  const { distribute = [], failoverPriority = [], failover: regions = [] } = policy.setting;
  if (distribute.length > 0) return distributed(groups, distribute, view.locality);
  if (!failover && !policy.force) return groups;
  const labelled = byLabels(groups, failoverPriority, view.labels);
  return failoverPriority.length > 0 && regions.length === 0 ? labelled : byDistance(labelled, regions, view.locality);
}

/** Weights by locality, of the first entry whose `from` fits the proxy; what no `to` fits gets no traffic. */
function distributed(
  groups: readonly EndpointGroup[],
  distribute: readonly LocalityLoadBalancerSettingDistribute[],
  from: Locality,
): readonly EndpointGroup[] {
  const entry = distribute.find((candidate) => matches(from, candidate.from ?? ''));
  if (entry === undefined) return groups;
  const weights = new Map<EndpointGroup, number>();
  for (const [to, share] of Object.entries(entry.to ?? {})) {
    const fitting = groups.filter((group) => !weights.has(group) && matches(parseLocality(group.locality), to));
    const total = fitting.reduce((sum, { weight = 1 }) => sum + weight, 0);
    for (const group of fitting) {
      const { weight = 1 } = group;
      weights.set(group, total === 0 ? weight : Math.ceil((weight * share) / total) || weight);
    }
  }
  return groups.map((group) => {
    const weight = weights.get(group);
    return weight === undefined ? { ...group, endpoints: [] } : { ...group, weight };
  });
}

function matches({ region, zone, subZone }: Locality, pattern: string): boolean {
  const rule = parseLocality(pattern);
  return (
    (rule.region === '*' || rule.region === region) &&
    (rule.zone === '*' || rule.zone === '' || rule.zone === zone) &&
    (rule.subZone === '*' || rule.subZone === '' || rule.subZone === subZone)
  );
}

/** Sub-zone, zone, region, the region to fail over to, all others. */
function byDistance(
  groups: readonly EndpointGroup[],
  failover: readonly Failover[],
  from: Locality,
): readonly EndpointGroup[] {
  const target = failover.find((entry) => (entry.from ?? '') === from.region);
  return prioritized(groups, 5, (locality) => {
    if (locality.region !== from.region) return target === undefined || locality.region === (target.to ?? '') ? 3 : 4;
    if (locality.zone !== from.zone) return 2;
    return locality.subZone === from.subZone ? 0 : 1;
  });
}

/** The proxy's region whole, since Envoy itself balances its zones; then the region to fail over to; then all others. */
function byRegion(
  groups: readonly EndpointGroup[],
  failover: readonly Failover[],
  from: Locality,
): readonly EndpointGroup[] {
  const target = failover.find((entry) => (entry.from ?? '') === from.region);
  return prioritized(groups, 3, ({ region }) => {
    if (region === from.region) return 0;
    return target !== undefined && region === (target.to ?? '') ? 1 : 2;
  });
}

/** Ranks within the priorities that groups have already. */
function prioritized(
  groups: readonly EndpointGroup[],
  ranks: number,
  rank: (locality: Locality) => number,
): readonly EndpointGroup[] {
  return withoutGaps(
    groups.map((group) => ({ ...group, priority: group.priority * ranks + rank(parseLocality(group.locality)) })),
  );
}

/** An Envoy wants every priority from 0 up to be there. */
function withoutGaps(groups: readonly EndpointGroup[]): readonly EndpointGroup[] {
  const order = [...new Set(groups.map(({ priority }) => priority))].sort((a, b) => a - b);
  return groups.map((group) => ({ ...group, priority: order.indexOf(group.priority) }));
}

/** Splits each group by how many of the labels, from the first on, an endpoint shares with the proxy. */
function byLabels(
  groups: readonly EndpointGroup[],
  failoverPriority: readonly string[] | undefined,
  own: Labels | undefined,
): readonly EndpointGroup[] {
  const labels = failoverLabels(failoverPriority);
  if (labels.length === 0 || own === undefined) return groups;
  const rank = (endpoint: Labels): number => {
    const differs = labels.map(({ label, value = own[label] ?? '' }) => value !== (endpoint[label] ?? ''));
    // A network that comes first is no reason to look at nothing else: it only puts all of its endpoints last.
    const elsewhere =
      differs[0] === true && labels[0]?.label === NETWORK_LABEL && failoverPriority?.[0] === NETWORK_LABEL;
    const first = differs.findIndex((differ, i) => differ && !(i === 0 && elsewhere));
    return (first < 0 ? 0 : labels.length - first) + (elsewhere ? labels.length : 0);
  };
  return withoutGaps(
    groups.flatMap((group) => {
      const byRank = Map.groupBy(group.endpoints, ({ origin }) => rank(origin.labels));
      return [...byRank]
        .sort(([a], [b]) => a - b)
        .map(([priority, endpoints]) => ({ ...group, endpoints, weight: totalWeight(endpoints), priority }));
    }),
  );
}
