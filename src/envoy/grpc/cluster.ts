import type { LoadBalancerSettings, TrafficPolicy } from '#generated/config/specs.ts';
import type { envoy } from '#generated/proto/types.ts';
import { loadBalancer } from '../clusters/load-balancer.ts';
import { altStatName } from '../names.ts';
import { grpcClientTls } from './tls.ts';

type Cluster = envoy.config.cluster.v3.Cluster;

export interface GrpcClusterInput {
  readonly name: string;
  /** Of the port, or of the subset for the port; the mesh's defaults do not count. */
  readonly policy: TrafficPolicy | undefined;
  /** SANs to expect of the servers. */
  readonly serviceAccounts: readonly string[];
  /** Clients stay with an endpoint, also while it drains. */
  readonly persistentSession: boolean;
}

/**
 * A cluster as gRPC without a proxy reads it: all that gRPC does not know is left out.
 * @see istio/istio pilot/pkg/networking/grpcgen/cds.go
 */
export function grpcCluster({ name, policy, serviceAccounts, persistentSession }: GrpcClusterInput): Cluster {
  const maxRequests = policy?.connectionPool?.http?.http2MaxRequests ?? 0;
  const { tls } = policy ?? {};
  // A server that takes both is reached in plaintext, and nobody can say whether the client would look at these settings.
  const secured = tls?.mode === 'ISTIO_MUTUAL';
  return {
    name,
    altStatName: altStatName(name),
    type: 'EDS',
    edsClusterConfig: { serviceName: name, edsConfig: { ads: {} } },
    ...(persistentSession && {
      commonLbConfig: { overrideHostStatus: { statuses: ['HEALTHY', 'DRAINING', 'UNKNOWN', 'DEGRADED'] } },
    }),
    ...grpcLoadBalancer(policy?.loadBalancer),
    ...(maxRequests > 0 && { circuitBreakers: { thresholds: [{ maxRequests }] } }),
    ...(secured && { transportSocket: grpcClientTls(tls.subjectAltNames ?? serviceAccounts) }),
  };
}

/** Round robin is gRPC's own choice, and what it is left with where it does not know the wanted one. */
function grpcLoadBalancer(settings: LoadBalancerSettings | undefined): Cluster {
  const { consistentHash } = settings ?? {};
  if (consistentHash !== undefined) {
    // gRPC has one kind of consistent hash, and refuses a cluster with another.
    const { maglev: _maglev, ...hash } = consistentHash;
    return loadBalancer({ consistentHash: hash });
  }
  return settings?.simple === 'LEAST_REQUEST' ? { lbPolicy: 'LEAST_REQUEST' } : {};
}
