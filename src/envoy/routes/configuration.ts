import type { envoy } from '#generated/proto/types.ts';
import { ALLOW_ANY_DYNAMIC_DNS_CLUSTER, PASSTHROUGH_CLUSTER } from '../names.ts';

type RouteConfiguration = envoy.config.route.v3.RouteConfiguration;
type VirtualHost = envoy.config.route.v3.VirtualHost;
type Route = envoy.config.route.v3.Route;

/** The largest body of a direct response that validation accepts; Envoy's own default is 4 KiB. */
const MAX_DIRECT_RESPONSE_BYTES = 1024 * 1024;

/** The configuration by which an outbound listener routes. */
export function outboundRouteConfiguration(name: string, virtualHosts: readonly VirtualHost[]): RouteConfiguration {
  return {
    name,
    virtualHosts,
    validateClusters: false,
    maxDirectResponseBodySizeBytes: MAX_DIRECT_RESPONSE_BYTES,
    ignorePortInHostMatching: true,
  };
}

/** What happens to requests for hosts that no virtual host knows. */
export type UnknownHosts = 'passthrough' | 'dynamic-dns' | 'refused';

export interface CatchAllInput {
  readonly unknownHosts: UnknownHosts;
  /** With `passthrough`: the cluster of the proxy that all such requests go to; absent: their original destination. */
  readonly egressCluster?: string;
  readonly includeRequestAttemptCount: boolean;
  readonly appendXForwardedHost: boolean;
}

const NAMES: Readonly<Record<UnknownHosts, string>> = {
  passthrough: 'allow_any',
  'dynamic-dns': 'allow_any_dynamic_dns',
  refused: 'block_all',
};

/**
 * The virtual host for all hosts that no other knows.
 * @see istio/istio pilot/pkg/networking/core/httproute.go `buildCatchAllVirtualHost`
 */
export function catchAllVirtualHost(input: CatchAllInput): VirtualHost {
  const name = NAMES[input.unknownHosts];
  return {
    name,
    domains: ['*'],
    routes: [{ name, match: { prefix: '/' }, ...catchAllAction(input) }],
    ...(input.includeRequestAttemptCount && { includeRequestAttemptCount: true }),
  };
}

function catchAllAction(input: CatchAllInput): Pick<Route, 'route' | 'directResponse'> {
  const { unknownHosts, egressCluster = PASSTHROUGH_CLUSTER, appendXForwardedHost } = input;
  if (unknownHosts === 'refused') return { directResponse: { status: 502 } };
  return {
    route: {
      cluster: unknownHosts === 'passthrough' ? egressCluster : ALLOW_ANY_DYNAMIC_DNS_CLUSTER,
      timeout: '0s',
      maxGrpcTimeout: '0s',
      ...(appendXForwardedHost && { appendXForwardedHost: true }),
    },
  };
}
