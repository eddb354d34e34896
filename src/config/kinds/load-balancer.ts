import type { ConsistentHashLB, HTTPCookie, LoadBalancerSettings, OutlierDetection } from '#generated/config/specs.ts';
import type { Finding, Place } from '../finding.ts';
import { localityLbFindings, zoneAwareLbFindings } from './locality.ts';

/** Envoy's limit of a Maglev table. */
const MAX_TABLE_SIZE = 5_000_011;

function isPrime(number: number): boolean {
  if (number < 4) return number > 1;
  if (number % 2 === 0) return false;
  for (let factor = 3; factor * factor <= number; factor += 2) if (number % factor === 0) return false;
  return true;
}

function* cookieFindings(at: Place, { name, attributes = [] }: HTTPCookie): Generator<Finding> {
  if (name === '') yield at.at('name').error('the cookie needs a name');
  const seen = new Set<string>();
  for (const [i, attribute] of attributes.entries()) {
    const place = at.at('attributes', i, 'name');
    if (attribute.name === '') yield place.error('the attribute needs a name');
    else if (seen.has(attribute.name)) yield place.error(`"${attribute.name}" stands before: remove one of them`);
    seen.add(attribute.name);
  }
}

function* consistentHashFindings(at: Place, hash: ConsistentHashLB): Generator<Finding> {
  if (hash.httpCookie !== undefined) yield* cookieFindings(at.at('httpCookie'), hash.httpCookie);
  const ringSize = Number(hash.minimumRingSize ?? 0);
  if (ringSize !== 0 && (hash.ringHash ?? hash.maglev) !== undefined) {
    yield at.at('minimumRingSize').error('only one of minimumRingSize, ringHash and maglev may be set');
  }
  if (hash.maglev === undefined) return;
  const size = Number(hash.maglev.tableSize ?? 0);
  if (size >= MAX_TABLE_SIZE || !isPrime(size)) {
    yield at.at('maglev', 'tableSize').error(`${size} must be a prime number below ${MAX_TABLE_SIZE}, as 65537`);
  }
}

/**
 * @param outlier the outlier detection beside it
 * @see istio/istio pkg/config/validation/validation.go `validateLoadBalancer`
 */
export function* loadBalancerFindings(
  at: Place,
  settings: LoadBalancerSettings | undefined,
  outlier: OutlierDetection | undefined,
): Generator<Finding> {
  if (settings === undefined) return;
  const { consistentHash, localityLbSetting, zoneAwareLbSetting, warmup } = settings;
  if (consistentHash !== undefined) yield* consistentHashFindings(at.at('consistentHash'), consistentHash);
  if (localityLbSetting !== undefined && zoneAwareLbSetting !== undefined) {
    yield at.at('zoneAwareLbSetting').error('only one of localityLbSetting and zoneAwareLbSetting may be set');
  }
  yield* localityLbFindings(at.at('localityLbSetting'), localityLbSetting, outlier);
  yield* zoneAwareLbFindings(at.at('zoneAwareLbSetting'), zoneAwareLbSetting, outlier);
  if (warmup?.aggression !== undefined && warmup.aggression <= 0) {
    yield at.at('warmup', 'aggression').error('must be above 0');
  }
}
