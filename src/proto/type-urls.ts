const PREFIX = 'type.googleapis.com/';

/** What an xDS stream is asked for: `type.googleapis.com/` and the full name of a message. */
export type TypeUrl = `${typeof PREFIX}${string}`;

/** Clusters, CDS. */
export const CLUSTER_TYPE: TypeUrl = `${PREFIX}envoy.config.cluster.v3.Cluster`;
/** Endpoints of a cluster, EDS. */
export const ENDPOINT_TYPE: TypeUrl = `${PREFIX}envoy.config.endpoint.v3.ClusterLoadAssignment`;
/** Listeners, LDS. */
export const LISTENER_TYPE: TypeUrl = `${PREFIX}envoy.config.listener.v3.Listener`;
/** Route configurations, RDS. */
export const ROUTE_TYPE: TypeUrl = `${PREFIX}envoy.config.route.v3.RouteConfiguration`;
/** Scoped route configurations, SRDS. */
export const SCOPED_ROUTE_TYPE: TypeUrl = `${PREFIX}envoy.config.route.v3.ScopedRouteConfiguration`;
/** Single virtual hosts, VHDS. */
export const VIRTUAL_HOST_TYPE: TypeUrl = `${PREFIX}envoy.config.route.v3.VirtualHost`;
/** Certificates, keys and trust bundles, SDS. */
export const SECRET_TYPE: TypeUrl = `${PREFIX}envoy.extensions.transport_sockets.tls.v3.Secret`;
/** Runtime layers, RTDS. */
export const RUNTIME_TYPE: TypeUrl = `${PREFIX}envoy.service.runtime.v3.Runtime`;
/** Configs of single extensions, ECDS. */
export const EXTENSION_CONFIG_TYPE: TypeUrl = `${PREFIX}envoy.config.core.v3.TypedExtensionConfig`;
/** The DNS table of an agent, NDS. */
export const NAME_TABLE_TYPE: TypeUrl = `${PREFIX}istio.networking.nds.v1.NameTable`;
/** The proxy's own settings and trust bundle, PCDS. */
export const PROXY_CONFIG_TYPE: TypeUrl = `${PREFIX}istio.mesh.v1alpha1.ProxyConfig`;

/** What an agent says of its workload's health: news, and no request. */
export const HEALTH_TYPE: TypeUrl = `${PREFIX}istio.v1.HealthInformation`;

/** The full name of the message that a type URL names: all after its last slash. */
export function messageName(typeUrl: string): string {
  return typeUrl.slice(typeUrl.lastIndexOf('/') + 1);
}

/** The type URL of a message, from its full name. */
export function typeUrl(fullName: string): TypeUrl {
  return `${PREFIX}${fullName}`;
}
