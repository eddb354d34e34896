import type {
  LocalityLoadBalancerSetting,
  OutlierDetection,
  ZoneAwareLoadBalancerSetting,
} from '#generated/config/specs.ts';
import type { Finding, Place } from '../finding.ts';

const TOPOLOGY_LABELS: ReadonlySet<string> = new Set([
  'topology.kubernetes.io/region',
  'topology.kubernetes.io/zone',
  'topology.istio.io/subzone',
]);

function localityProblem(locality: string): string | undefined {
  const wildcard = locality.indexOf('*');
  if (wildcard >= 0 && wildcard !== locality.length - 1) return `"*" may stand only at the end of "${locality}"`;
  if (locality.split('/', 3).includes('')) return `"${locality}" has an empty region, zone or subzone`;
  return undefined;
}

/**
 * Whether a locality takes in one that stands after it, or both begin alike as far as the later one goes. A later `*` is what
 * the earlier ones leave.
 */
function overlap(earlier: string, later: string): boolean {
  const parts = splitLocality(earlier);
  for (const [i, part] of splitLocality(later).entries()) {
    if (parts[i] === undefined || parts[i] === '*') return true;
    if (parts[i] !== part) return false;
  }
  return true;
}

function splitLocality(locality: string): readonly string[] {
  const [region = '', zone, ...subzone] = locality.split('/');
  return [region, ...(zone === undefined ? [] : [zone]), ...(subzone.length === 0 ? [] : [subzone.join('/')])];
}

function* localitiesFindings(places: readonly (readonly [Place, string])[]): Generator<Finding> {
  for (const [i, [at, locality]] of places.entries()) {
    const wrong = localityProblem(locality);
    const before = places.slice(0, i).find(([, other]) => overlap(other, locality));
    if (wrong !== undefined) yield at.error(wrong);
    else if (before !== undefined) yield at.error(`"${locality}" overlaps with "${before[1]}": make them disjoint`);
  }
}

interface Failover {
  readonly from?: string;
  readonly to?: string;
}

function* failoverFindings(at: Place, failover: readonly Failover[]): Generator<Finding> {
  for (const [i, { from = '', to = '' }] of failover.entries()) {
    if (from === to) yield at.at(i).error(`a region can not fail over to itself ("${from}")`);
    for (const [name, region] of [
      ['from', from],
      ['to', to],
    ] as const) {
      if (region.includes('/')) yield at.at(i, name).error(`"${region}" must be a region alone, without zone`);
      if (region.includes('*')) yield at.at(i, name).error(`"${region}" must name one region, without "*"`);
    }
  }
}

function* needsOutlierDetection(
  at: Place,
  { failover, failoverPriority }: LocalityLoadBalancerSetting | ZoneAwareLoadBalancerSetting,
  outlier: OutlierDetection | undefined,
): Generator<Finding> {
  if (outlier !== undefined || (failover === undefined && failoverPriority === undefined)) return;
  yield at
    .at(failover === undefined ? 'failoverPriority' : 'failover')
    .warning('works only with outlierDetection, which tells when endpoints fail: add it');
}

/**
 * @param outlier the outlier detection beside it
 * @see istio/istio pkg/config/validation/agent/validation.go `ValidateLocalityLbSetting`
 */
export function* localityLbFindings(
  at: Place,
  lb: LocalityLoadBalancerSetting | undefined,
  outlier: OutlierDetection | undefined,
): Generator<Finding> {
  if (lb === undefined) return;
  const { distribute = [], failover = [], failoverPriority = [] } = lb;
  if (distribute.length > 0 && failover.length > 0) {
    yield at.at('failover').error('only one of distribute and failover may be set');
    return;
  }
  for (const [i, label] of failoverPriority.entries()) {
    if (failover.length > 0 && TOPOLOGY_LABELS.has(label)) {
      yield at.at('failoverPriority', i).error(`"${label}" contradicts failover: remove one of them`);
    }
  }
  for (const [i, { to = {} }] of distribute.entries()) {
    const place = at.at('distribute', i, 'to');
    const total = Object.values(to).reduce((sum, weight) => sum + weight, 0);
    if (total !== 100) yield place.error(`the percentages add up to ${total}, not to 100`);
    yield* localitiesFindings(Object.keys(to).map((locality) => [place.at(locality), locality] as const));
  }
  yield* localitiesFindings(distribute.map(({ from = '' }, i) => [at.at('distribute', i, 'from'), from] as const));
  yield* needsOutlierDetection(at, lb, outlier);
  yield* failoverFindings(at.at('failover'), failover);
}

/** @see istio/istio pkg/config/validation/agent/validation.go `ValidateZoneAwareLbSetting` */
export function* zoneAwareLbFindings(
  at: Place,
  lb: ZoneAwareLoadBalancerSetting | undefined,
  outlier: OutlierDetection | undefined,
): Generator<Finding> {
  if (lb === undefined) return;
  for (const [i, label] of (lb.failoverPriority ?? []).entries()) {
    if (TOPOLOGY_LABELS.has(label)) {
      yield at.at('failoverPriority', i).error(`"${label}" is taken care of by zone awareness itself: remove it`);
    }
  }
  yield* needsOutlierDetection(at, lb, outlier);
  yield* failoverFindings(at.at('failover'), lb.failover ?? []);
}
