import type { HTTPRetry, HTTPRoute, HTTPRouteDestination } from '#generated/config/specs.ts';
import type { envoy } from '#generated/proto/types.ts';
import { protoDuration } from '../../base/proto-duration.ts';
import type { RouteSemantics } from '../../model/virtual-service.ts';
import { consistentHash, type Destinations, destinationCluster } from './destination.ts';
import { hashPolicy } from './hash-policy.ts';
import { authorityOf, type HeaderChanges, headerChanges } from './headers.ts';
import { mirrorPolicies } from './mirror.ts';
import { retryPolicy } from './retry.ts';
import { pathRewrite } from './rewrite.ts';

type RouteMatch = envoy.config.route.v3.RouteMatch;
type RouteAction = envoy.config.route.v3.RouteAction;
type ClusterWeight = envoy.config.route.v3.WeightedCluster.ClusterWeight;

export interface ForwardInput {
  readonly destinations: Destinations;
  readonly listenPort: number;
  readonly semantics: RouteSemantics;
  /** MeshConfig `defaultHttpRetryPolicy`, for routes without `retries`. */
  readonly retry: HTTPRetry | undefined;
  /** From ProxyConfig `proxyHeaders`. */
  readonly appendXForwardedHost: boolean;
  /** gRPC without a proxy reads other fields for the time limit. */
  readonly proxylessGrpc: boolean;
}

export interface Forward {
  readonly action: RouteAction;
  /** Header changes of the only destination, which count for the whole route. */
  readonly headers: HeaderChanges;
}

/**
 * What forwards requests to the destinations of a route.
 *
 * @param match the translated match, which a rewrite of the path may refer to
 * @see istio/istio pilot/pkg/networking/core/route/route.go `applyHTTPRouteDestination`
 */
export function forwardAction(route: HTTPRoute, match: RouteMatch, input: ForwardInput): Forward {
  const targets = route.route ?? [];
  const only = targets.length === 1 ? targets[0] : undefined;
  // With several destinations, those without weight get nothing.
  const counted = only === undefined ? targets.filter(({ weight }) => weight) : targets;
  const hashes = counted.map(({ destination }) => consistentHash(destination, input.destinations));
  const hashPolicies = hashes.flatMap((hash) => (hash && hashPolicy(hash)) ?? []);
  const ownAuthority = route.rewrite?.authority || authorityOf(route.headers);
  const authority = ownAuthority || (only ? authorityOf(only.headers) : '');
  const mirrors = mirrorPolicies(route, input.destinations, input.listenPort);
  const retries = retryPolicy(route.retries ?? input.retry, only !== undefined && hashes[0] !== undefined);
  const action: RouteAction = {
    ...(only
      ? { cluster: destinationCluster(only.destination, input.destinations, input.listenPort) }
      : { weightedClusters: { clusters: counted.map((target) => clusterWeight(target, input)) } }),
    ...timeLimits(route.timeout, input.proxylessGrpc),
    ...(input.semantics === 'gateway' && { clusterNotFoundResponseCode: 'INTERNAL_SERVER_ERROR' as const }),
    ...(route.rewrite && pathRewrite(route.rewrite, match, input.semantics)),
    ...(route.rewrite && input.appendXForwardedHost && { appendXForwardedHost: true }),
    ...(authority && { hostRewriteLiteral: authority }),
    ...(mirrors.length > 0 && { requestMirrorPolicies: mirrors }),
    ...(hashPolicies.length > 0 && { hashPolicy: hashPolicies }),
    ...(retries && { retryPolicy: retries }),
  };
  return { action, headers: only ? headerChanges(only.headers) : {} };
}

function timeLimits(timeout: string | undefined, proxylessGrpc: boolean): RouteAction {
  const limit = timeout === undefined ? '0s' : protoDuration(timeout);
  return proxylessGrpc
    ? { timeout: limit, maxStreamDuration: { maxStreamDuration: limit } }
    : { timeout: limit, maxGrpcTimeout: limit };
}

function clusterWeight({ destination, weight, headers }: HTTPRouteDestination, input: ForwardInput): ClusterWeight {
  const authority = authorityOf(headers);
  return {
    name: destinationCluster(destination, input.destinations, input.listenPort),
    weight: weight ?? 0,
    ...headerChanges(headers),
    ...(authority && { hostRewriteLiteral: authority }),
  };
}
