import type { HTTPRetry } from '#generated/config/specs.ts';
import type { envoy } from '#generated/proto/types.ts';
import type { Hostname } from '../../base/host.ts';
import { clusterName } from '../names.ts';
import { hostAndPort } from './domains.ts';
import { retryPolicy } from './retry.ts';

type Route = envoy.config.route.v3.Route;
type RouteAction = envoy.config.route.v3.RouteAction;
type HashPolicy = envoy.config.route.v3.RouteAction.HashPolicy;

/** The name of routes that no VirtualService gave. */
export const DEFAULT_ROUTE = 'default';

/** The route of every request of a port of a host. */
export function defaultRoute(hostname: Hostname, port: number, action: RouteAction): Route {
  return {
    name: DEFAULT_ROUTE,
    match: { prefix: '/' },
    decorator: { operation: `${hostAndPort(hostname, port)}/*` },
    route: action,
  };
}

export interface OutboundDefaultRouteInput {
  readonly hostname: Hostname;
  readonly port: number;
  /** From the consistent hash of the service's DestinationRule. */
  readonly hashPolicy?: HashPolicy | undefined;
  /** MeshConfig `defaultHttpRetryPolicy`. */
  readonly retry: HTTPRetry | undefined;
}

/**
 * The route to a service that no VirtualService governs.
 * @see istio/istio pilot/pkg/networking/core/route/route.go `BuildDefaultHTTPOutboundRoute`
 */
export function outboundDefaultRoute({ hostname, port, hashPolicy, retry }: OutboundDefaultRouteInput): Route {
  const retries = retryPolicy(retry, false);
  return defaultRoute(hostname, port, {
    cluster: clusterName('outbound', port, '', hostname),
    timeout: '0s',
    maxGrpcTimeout: '0s',
    ...(retries && { retryPolicy: retries }),
    ...(hashPolicy && { hashPolicy: [hashPolicy] }),
  });
}
