import type { ConnectionPoolSettings, IstioIngressListener, TrafficPolicy } from '#generated/config/specs.ts';
import type { envoy } from '#generated/proto/types.ts';
import { isIpv6 } from '../../base/address.ts';
import type { IpFamilies } from '../../model/scope.ts';
import type { Service, ServicePort } from '../../model/service.ts';
import { pipeAddress, socketAddress } from '../address.ts';
import { altStatName, INBOUND_BIND_IPV4, INBOUND_BIND_IPV6, inboundClusterName, statName } from '../names.ts';
import { bindConfig } from './builtin.ts';
import { connectionPool } from './connection-pool.ts';
import { httpOptions, httpOptionsExtension, upstreamProtocol } from './http-options.ts';
import { clusterMetadata } from './metadata.ts';
import type { AppliedRule, ClusterMesh } from './outbound.ts';

type Cluster = envoy.config.cluster.v3.Cluster;
type Address = envoy.config.core.v3.Address;

/** A service on the cluster's port. A Sidecar's ingress port that no service has makes one up. */
export interface InboundService {
  readonly service: Pick<Service, 'hostname' | 'name' | 'namespace' | 'registry' | 'meshExternal'>;
  readonly port: ServicePort;
}

/** Where an inbound cluster sends to; undefined: to the original destination. */
export type InboundEndpoint = { readonly address: string; readonly port: number } | { readonly unixPath: string };

export interface InboundClusterInput {
  /** Of the workload, or of the Sidecar's ingress listener. */
  readonly port: number;
  /** The first gives protocol and policy; of the others telemetry only learns the names. */
  readonly services: readonly [InboundService, ...InboundService[]];
  readonly endpoint: InboundEndpoint | undefined;
  /** Of the first service's port, the mesh's defaults filled in. Only its connection pool counts. */
  readonly policy: TrafficPolicy | undefined;
  /** The DestinationRule that `policy` is from; absent when it has none. */
  readonly rule: AppliedRule | undefined;
  /** The Sidecar's `connectionPool` for the port; it wins. */
  readonly sidecarPool: ConnectionPoolSettings | undefined;
  readonly mesh: ClusterMesh & { readonly inboundClusterStatName?: string | undefined };
  readonly preserveHeaderCase: boolean;
  readonly families: IpFamilies;
  readonly dualStack: boolean;
}

/** An original destination is known for as long as the proxy lives: the longest time that an Envoy takes. */
const NEVER = '9223372035s';

/**
 * From a proxy to its own workload.
 * @see istio/istio pilot/pkg/networking/core/cluster_builder.go `buildInboundCluster`
 */
export function inboundCluster(input: InboundClusterInput): Cluster {
  const { services, endpoint, policy, sidecarPool, mesh, preserveHeaderCase } = input;
  const [{ port }] = services;
  const name = inboundClusterName(input.port);
  const pool = sidecarPool ?? policy?.connectionPool;
  const protocol = upstreamProtocol({ protocol: port.protocol, detectsProtocols: true, preserveHeaderCase });
  return {
    name,
    altStatName: altStatName(inboundStatName(name, input)),
    ...(endpoint === undefined
      ? { type: 'ORIGINAL_DST', lbPolicy: 'CLUSTER_PROVIDED', cleanupInterval: NEVER }
      : {
          type: 'STATIC',
          loadAssignment: { clusterName: name, endpoints: [{ lbEndpoints: [lbEndpoint(endpoint)] }] },
        }),
    commonLbConfig: {},
    ...connectionPool({ pool, retryBudget: policy?.retryBudget, mesh }),
    ...httpOptionsExtension(httpOptions({ protocol, preserveHeaderCase, pool })),
    ...(isLoopback(endpoint) ? {} : { upstreamBindConfig: bindConfig(bindAddresses(input)) }),
    ...inboundMetadata(input),
  };
}

function lbEndpoint(endpoint: InboundEndpoint): envoy.config.endpoint.v3.LbEndpoint {
  const address: Address =
    'unixPath' in endpoint ? pipeAddress(endpoint.unixPath) : socketAddress(endpoint.address, endpoint.port);
  return { endpoint: { address } };
}

/** From any other address, capture would bring the traffic back to the proxy. */
function isLoopback(endpoint: InboundEndpoint | undefined): boolean {
  return endpoint !== undefined && 'address' in endpoint && ['127.0.0.1', '::1'].includes(endpoint.address);
}

function bindAddresses({ families, dualStack }: InboundClusterInput): readonly string[] {
  switch (families) {
    case 'IPv4':
      return [INBOUND_BIND_IPV4];
    case 'IPv6':
      return [INBOUND_BIND_IPV6];
    case 'dual-IPv4':
    case 'dual-IPv6':
      return dualStack ? [INBOUND_BIND_IPV4, INBOUND_BIND_IPV6] : [INBOUND_BIND_IPV4];
  }
}

function inboundStatName(
  name: string,
  { services: [{ service, port }], mesh, port: targetPort }: InboundClusterInput,
): string {
  const pattern = mesh.inboundClusterStatName;
  if (!pattern) return name;
  const { hostname, namespace } = service;
  const kubernetes = service.registry === 'Kubernetes' ? { name: service.name, namespace } : undefined;
  return statName(pattern, { hostname, subset: '', port, targetPort, ...(kubernetes ? { kubernetes } : {}) });
}

function inboundMetadata({ services, rule }: InboundClusterInput): Pick<Cluster, 'metadata'> {
  const [{ service, port }] = services;
  // Outside of the mesh nobody asks for telemetry, and istiod then has nowhere to name the rule either.
  if (service.meshExternal) return {};
  const named = services
    .filter((other) => other.port.port === port.port)
    .map((other) => other.service)
    .filter((other, i, all) => all.findIndex(({ hostname }) => hostname === other.hostname) === i);
  return clusterMetadata({ services: named, rule });
}

/**
 * Where a Sidecar's ingress listener wants its traffic: `127.0.0.1:PORT`, `[::1]:PORT`, `0.0.0.0:PORT` and `[::]:PORT` for the
 * proxy's own address, or `unix://PATH`.
 *
 * @param ips the proxy's own
 * @returns undefined for the original destination, null when it is none of these: there is no cluster then
 * @see istio/istio pilot/pkg/networking/core/cluster.go `buildInboundClustersFromSidecar`
 */
export function ingressEndpoint(
  { defaultEndpoint = '' }: Pick<IstioIngressListener, 'defaultEndpoint'>,
  families: IpFamilies,
  ips: readonly string[],
): InboundEndpoint | undefined | null {
  if (defaultEndpoint === '') return undefined;
  if (defaultEndpoint.startsWith('unix://')) return { unixPath: defaultEndpoint.slice('unix://'.length) };
  const parts = /^\[?(.*?)\]?:(\d+)$/.exec(defaultEndpoint);
  if (parts === null) return null;
  const [, host = '', port = ''] = parts;
  const address = ownAddress(host, families, ips);
  return address === undefined ? undefined : { address, port: Number(port) };
}

function ownAddress(host: string, families: IpFamilies, ips: readonly string[]): string | undefined {
  switch (host) {
    case '0.0.0.0':
      return ips.find((ip) => !isIpv6(ip)) ?? '127.0.0.1';
    case '::':
      return ips.find(isIpv6) ?? '::1';
    case '127.0.0.1':
      return families === 'IPv6' ? '::1' : '127.0.0.1';
    case '::1':
      return families === 'IPv4' ? '127.0.0.1' : '::1';
    default:
      return undefined;
  }
}
