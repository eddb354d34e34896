import type { ConsistentHashLB, Destination, DestinationRule, TrafficPolicy } from '#generated/config/specs.ts';
import type { envoy } from '#generated/proto/types.ts';
import { protoDuration } from '../../base/proto-duration.ts';

type HashPolicy = envoy.config.route.v3.RouteAction.HashPolicy;

/**
 * What of a request is hashed, or undefined when the settings name nothing.
 * @see istio/istio pilot/pkg/networking/core/route/route.go `ConsistentHashToHashPolicy`
 */
export function hashPolicy(settings: ConsistentHashLB): HashPolicy | undefined {
  const { httpHeaderName, httpCookie, useSourceIp, httpQueryParameterName } = settings;
  if (httpHeaderName !== undefined) return { header: { headerName: httpHeaderName } };
  if (httpCookie !== undefined) {
    const { name, ttl, path, attributes = [] } = httpCookie;
    return {
      cookie: {
        name,
        ...(ttl !== undefined && { ttl: protoDuration(ttl) }),
        ...(path && { path }),
        ...(attributes.length > 0 && { attributes }),
      },
    };
  }
  if (useSourceIp !== undefined) return { connectionProperties: useSourceIp ? { sourceIp: true } : {} };
  if (httpQueryParameterName !== undefined) return { queryParameter: { name: httpQueryParameterName } };
  return undefined;
}

function portHash(policy: TrafficPolicy | undefined, port: number | undefined): ConsistentHashLB | undefined {
  if (port === undefined) return undefined;
  return policy?.portLevelSettings?.find((settings) => settings.port?.number === port)?.loadBalancer?.consistentHash;
}

/**
 * The consistent hash for a port of a service to which no VirtualService leads.
 * @see istio/istio pilot/pkg/networking/core/route/route.go `hashForService`
 */
export function serviceHash({ trafficPolicy }: DestinationRule, port: number): ConsistentHashLB | undefined {
  return portHash(trafficPolicy, port) ?? trafficPolicy?.loadBalancer?.consistentHash;
}

/**
 * The consistent hash for a destination of a VirtualService: the subset's before the service's, and in each that of the
 * port, if the destination names one, before that of all ports.
 * @see istio/istio pilot/pkg/networking/core/route/route.go `HashForHTTPDestination`
 */
export function destinationHash(rule: DestinationRule, destination: Destination): ConsistentHashLB | undefined {
  const port = destination.port?.number;
  const subset = rule.subsets?.find(({ name }) => name === (destination.subset ?? ''))?.trafficPolicy;
  return (
    portHash(subset, port) ??
    subset?.loadBalancer?.consistentHash ??
    portHash(rule.trafficPolicy, port) ??
    rule.trafficPolicy?.loadBalancer?.consistentHash
  );
}
