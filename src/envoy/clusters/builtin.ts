import type { ConnectionPoolSettings } from '#generated/config/specs.ts';
import type { envoy } from '#generated/proto/types.ts';
import { protoDuration } from '../../base/proto-duration.ts';
import type { IpFamilies } from '../../model/scope.ts';
import { pipeAddress } from '../address.ts';
import {
  altStatName,
  BLACK_HOLE_CLUSTER,
  INBOUND_BIND_IPV4,
  INBOUND_BIND_IPV6,
  INBOUND_PASSTHROUGH_CLUSTER,
  PASSTHROUGH_CLUSTER,
} from '../names.ts';
import { EXTERNAL_SDS_CLUSTER, EXTERNAL_SDS_SOCKET } from '../tls-context.ts';
import { connectionPool } from './connection-pool.ts';
import { metadataExchange } from './filters.ts';
import { httpOptionsExtension, passthroughHttpOptions } from './http-options.ts';
import type { ClusterMesh } from './outbound.ts';
import type { ClusterView } from './view.ts';

type Cluster = envoy.config.cluster.v3.Cluster;
type BindConfig = envoy.config.core.v3.BindConfig;

export function blackHoleCluster({ connectTimeout }: Pick<ClusterMesh, 'connectTimeout'>): Cluster {
  return {
    name: BLACK_HOLE_CLUSTER,
    type: 'STATIC',
    altStatName: altStatName(BLACK_HOLE_CLUSTER),
    ...(connectTimeout === undefined ? {} : { connectTimeout: protoDuration(connectTimeout) }),
  };
}

export interface PassthroughInput {
  /** MeshConfig `defaultTrafficPolicy`'s: it bounds what would have no bound. */
  readonly pool: ConnectionPoolSettings | undefined;
  readonly mesh: ClusterMesh;
  readonly view: Pick<ClusterView, 'peerExchange' | 'peerLabels' | 'preserveHeaderCase'>;
}

/** @see istio/istio pilot/pkg/networking/core/cluster_builder.go `buildDefaultPassthroughCluster` */
export function passthroughCluster({ pool, mesh, view }: PassthroughInput): Cluster {
  return {
    name: PASSTHROUGH_CLUSTER,
    type: 'ORIGINAL_DST',
    lbPolicy: 'CLUSTER_PROVIDED',
    altStatName: altStatName(PASSTHROUGH_CLUSTER),
    ...connectionPool({ pool, mesh }),
    ...httpOptionsExtension(passthroughHttpOptions(view.preserveHeaderCase)),
    ...metadataExchange(view),
  };
}

/**
 * To the workload at its original destination, from the address that capture lets through. Its statistics stand under the
 * outbound one's name, as istiod has it.
 */
export function inboundPassthroughCluster(input: PassthroughInput, families: IpFamilies): Cluster {
  const { filters: _outboundOnly, ...cluster } = passthroughCluster(input);
  const ipv4 = families !== 'IPv6';
  const ipv6 = families !== 'IPv4';
  return {
    ...cluster,
    name: INBOUND_PASSTHROUGH_CLUSTER,
    upstreamBindConfig: bindConfig([...(ipv4 ? [INBOUND_BIND_IPV4] : []), ...(ipv6 ? [INBOUND_BIND_IPV6] : [])]),
  };
}

/** Connects from the first of the addresses that has the family of the destination. */
export function bindConfig([first = INBOUND_BIND_IPV4, ...others]: readonly string[]): BindConfig {
  return {
    sourceAddress: { address: first, portValue: 0 },
    ...(others.length > 0
      ? { extraSourceAddresses: others.map((address) => ({ address: { address, portValue: 0 } })) }
      : {}),
  };
}

/** To the server of secrets that a node says it has beside its agent. */
export function externalSdsCluster({ connectTimeout }: Pick<ClusterMesh, 'connectTimeout'>): Cluster {
  return {
    name: EXTERNAL_SDS_CLUSTER,
    type: 'STATIC',
    altStatName: altStatName(EXTERNAL_SDS_CLUSTER),
    ...(connectTimeout === undefined ? {} : { connectTimeout: protoDuration(connectTimeout) }),
    loadAssignment: {
      clusterName: EXTERNAL_SDS_CLUSTER,
      endpoints: [{ lbEndpoints: [{ endpoint: { address: pipeAddress(EXTERNAL_SDS_SOCKET) } }] }],
    },
    ...httpOptionsExtension({ explicitHttpConfig: { http2ProtocolOptions: {} } }),
  };
}
