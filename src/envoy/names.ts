import type { Hostname } from '../base/host.ts';
import type { Config } from '../config/config.ts';

export type Direction = 'outbound' | 'inbound' | 'inbound-vip';

/** Where traffic to unknown destinations ends when it is not allowed. */
export const BLACK_HOLE_CLUSTER = 'BlackHoleCluster';
/** Sends traffic to its original destination. */
export const PASSTHROUGH_CLUSTER = 'PassthroughCluster';
/** Sends inbound traffic to the workload at its original destination. */
export const INBOUND_PASSTHROUGH_CLUSTER = 'InboundPassthroughCluster';
/** Resolves the request's host, for the outbound mode ALLOW_ANY_DYNAMIC_DNS. */
export const ALLOW_ANY_DYNAMIC_DNS_CLUSTER = 'AllowAnyDynamicDNSCluster';
/** The DNS cache that the cluster and the filters of ALLOW_ANY_DYNAMIC_DNS share. */
export const ALLOW_ANY_DYNAMIC_DNS_CACHE = 'allow_any_dfp_dns_cache';

/** The source addresses by which captured traffic to the proxy's own workload is told from all other. */
export const INBOUND_BIND_IPV4 = '127.0.0.6';
export const INBOUND_BIND_IPV6 = '::6';

/** `outbound|9080|v1|reviews.default.svc.cluster.local`; `subset` and `host` may be empty. */
export function clusterName(direction: Direction, port: number, subset: string, host: Hostname): string {
  return `${direction}|${port}|${subset}|${host}`;
}

/** `inbound|8080||`: one per port of the workload, whatever services it belongs to. */
export function inboundClusterName(port: number): string {
  return clusterName('inbound', port, '', '');
}

/**
 * `outbound_.9080_.v1_.reviews.default.svc.cluster.local`: the SNI of mutual TLS to a cluster, and the name of the cluster
 * through which a gateway passes such traffic on unopened.
 */
export function sniClusterName(port: number, subset: string, host: Hostname): string {
  return `outbound_.${port}_.${subset}_.${host}`;
}

/** A cluster's name under which its statistics stand: the `;` ends it, so that dots in it are no separators. */
export function altStatName(prefix: string): string {
  return `${prefix};`;
}

/** The DNS cache of a wildcard host whose names are resolved by the request. */
export function dnsCacheName(host: Hostname): string {
  return `${host}_dfp_dns_cache`;
}

export interface StatNameParts {
  readonly hostname: Hostname;
  readonly subset: string;
  readonly port: { readonly name: string; readonly port: number };
  /** 0 where it is not known: outbound. Absent where the pattern has no word for it: listeners inbound. */
  readonly targetPort?: number;
  /** Name and namespace of a Kubernetes Service; absent for others, whose short names are their hostnames. */
  readonly kubernetes?: { readonly name: string; readonly namespace: string };
}

/**
 * A MeshConfig stat name pattern (`%SERVICE%_%SERVICE_PORT%`) with its parts filled in.
 * @see istio/istio pilot/pkg/networking/telemetry/telemetry.go `BuildStatPrefix`
 */
export function statName(pattern: string, { hostname, subset, port, targetPort, kubernetes }: StatNameParts): string {
  const service = kubernetes === undefined ? hostname : `${kubernetes.name}.${kubernetes.namespace}`;
  const filled = targetPort === undefined ? pattern : pattern.replaceAll('%TARGET_PORT%', String(targetPort));
  return filled
    .replaceAll('%SERVICE%', () => service)
    .replaceAll('%SERVICE_NAME%', () => kubernetes?.name ?? hostname)
    .replaceAll('%SERVICE_FQDN%', () => hostname)
    .replaceAll('%SUBSET_NAME%', () => subset)
    .replaceAll('%SERVICE_PORT%', String(port.port))
    .replaceAll('%SERVICE_PORT_NAME%', () => port.name);
}

/**
 * How resources name the object that they come from, in `filterMetadata.istio.config`:
 * `/apis/networking.istio.io/v1/namespaces/default/destination-rule/reviews`, whatever version the object was written in.
 */
export function configPath({
  group,
  kind,
  namespace,
  name,
}: Pick<Config, 'group' | 'kind' | 'namespace' | 'name'>): string {
  const kebab = kind.replace(/[a-z0-9](?=[A-Z])/g, '$&-').toLowerCase();
  return `/apis/${group}/v1/namespaces/${namespace}/${kebab}/${name}`;
}

/** The route configuration of the port on which proxies take requests for any host (MeshConfig `proxyHttpPort`). */
export const HTTP_PROXY_ROUTE = 'http_proxy';

/** The route configuration that all HTTP services of a port share: `80`. */
export function portRouteName(port: number): string {
  return String(port);
}

/** That of one service whose port has a listener of its own, on which HTTP is told from TCP by looking: `host:9000`. */
export function hostRouteName(hostname: Hostname, port: number): string {
  return `${hostname}:${port}`;
}

/**
 * Under this key in a cluster's `filterMetadata.istio` stand the ALPN names, parted by commas, that requests to it offer:
 * `istio-http/1.1,istio,http/1.1`. For Envoys without Istio's ALPN filter alone.
 */
export const ALPN_METADATA = 'alpn';
