import type { envoy } from '#generated/proto/types.ts';
import { compareStrings } from '../../base/order.ts';
import { type Endpoint, parseLocality } from '../../model/endpoint.ts';

type LbEndpoint = envoy.config.endpoint.v3.LbEndpoint;
type LocalityLbEndpoints = envoy.config.endpoint.v3.LocalityLbEndpoints;

/** An endpoint's message, and of its origin what load balancing looks at. */
export interface GroupedEndpoint {
  readonly message: LbEndpoint;
  readonly origin: Pick<Endpoint, 'labels' | 'network'>;
  readonly weight: number;
  /** The client is to speak mutual TLS with it. */
  readonly mtls: boolean;
}

/** Endpoints of one locality and one priority. */
export interface EndpointGroup {
  /** `region/zone/subzone` or empty. */
  readonly locality: string;
  readonly endpoints: readonly GroupedEndpoint[];
  /** Absent when there is no endpoint. */
  readonly weight: number | undefined;
  /** 0 is the first choice. */
  readonly priority: number;
}

/** Bound of Envoy's weights. */
export const MAX_WEIGHT: number = 2 ** 32 - 1;

export function totalWeight(endpoints: readonly GroupedEndpoint[]): number {
  return Math.min(
    MAX_WEIGHT,
    endpoints.reduce((sum, { weight }) => sum + weight, 0),
  );
}

/** One group per locality, in order of their names. */
export function groupByLocality(
  endpoints: Iterable<{ readonly locality: string; readonly endpoint: GroupedEndpoint }>,
): readonly EndpointGroup[] {
  const byLocality = new Map<string, GroupedEndpoint[]>();
  for (const { locality, endpoint } of endpoints) {
    const group = byLocality.get(locality);
    if (group === undefined) byLocality.set(locality, [endpoint]);
    else group.push(endpoint);
  }
  return [...byLocality]
    .sort(([a], [b]) => compareStrings(a, b))
    .map(([locality, group]) => ({ locality, endpoints: group, weight: totalWeight(group), priority: 0 }));
}

/** The same group with other endpoints. */
export function withEndpoints(group: EndpointGroup, endpoints: readonly GroupedEndpoint[]): EndpointGroup {
  return { ...group, endpoints, weight: endpoints.length === 0 ? undefined : totalWeight(endpoints) };
}

export function localityEndpoints({ locality, endpoints, weight, priority }: EndpointGroup): LocalityLbEndpoints {
  return {
    locality: localityMessage(locality),
    ...(endpoints.length > 0 ? { lbEndpoints: endpoints.map(({ message }) => message) } : {}),
    ...(weight === undefined ? {} : { loadBalancingWeight: weight }),
    ...(priority > 0 ? { priority } : {}),
  };
}

function localityMessage(text: string): envoy.config.core.v3.Locality {
  const { region, zone, subZone } = parseLocality(text);
  return { ...(region ? { region } : {}), ...(zone ? { zone } : {}), ...(subZone ? { subZone } : {}) };
}
