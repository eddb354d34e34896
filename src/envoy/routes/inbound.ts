import type { HTTPRetry } from '#generated/config/specs.ts';
import type { envoy } from '#generated/proto/types.ts';
import type { Hostname } from '../../base/host.ts';
import type { Protocol } from '../../model/protocol.ts';
import { defaultRoute } from './default-route.ts';
import { inboundRetryPolicy } from './retry.ts';

export interface InboundRouteInput {
  /** The inbound cluster of the port, or `InboundPassthroughCluster`. */
  readonly cluster: string;
  /** Of the service that the port belongs to, for the name of the traced operation; may be empty. */
  readonly hostname: Hostname;
  /** The port of the service, or 0 for the pass-through chain. */
  readonly port: number;
  readonly protocol: Protocol;
  /** MeshConfig `defaultInboundHttpRetryPolicy`. */
  readonly retry: HTTPRetry | undefined;
}

/**
 * The route configuration that stands inside an inbound HTTP filter chain: all requests go to the one cluster, without a
 * time limit, because the caller's proxy sets it.
 * @see istio/istio pilot/pkg/networking/core/httproute.go `buildSidecarInboundHTTPRouteConfig`
 */
export function inboundRouteConfiguration(input: InboundRouteInput): envoy.config.route.v3.RouteConfiguration {
  const { cluster, hostname, port, protocol, retry } = input;
  // A stream of gRPC that was reset may have been processed in part.
  const isGrpc = protocol === 'GRPC' || protocol === 'GRPCWeb';
  const retries = isGrpc ? undefined : inboundRetryPolicy(retry);
  return {
    name: cluster,
    validateClusters: false,
    virtualHosts: [
      {
        name: `inbound|http|${port}`,
        domains: ['*'],
        routes: [
          defaultRoute(hostname, port, {
            cluster,
            timeout: '0s',
            maxStreamDuration: { maxStreamDuration: '0s', grpcTimeoutHeaderMax: '0s' },
            ...(retries && { retryPolicy: retries }),
          }),
        ],
      },
    ],
  };
}
