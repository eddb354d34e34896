/** Short names of types, as Istio's metrics have them (istio/istio pkg/model/xds.go). */
const SHORT: Readonly<Record<string, string>> = {
  'type.googleapis.com/envoy.config.cluster.v3.Cluster': 'cds',
  'type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment': 'eds',
  'type.googleapis.com/envoy.config.listener.v3.Listener': 'lds',
  'type.googleapis.com/envoy.config.route.v3.RouteConfiguration': 'rds',
  'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret': 'sds',
  'type.googleapis.com/envoy.config.core.v3.TypedExtensionConfig': 'ecds',
  'type.googleapis.com/istio.networking.nds.v1.NameTable': 'nds',
};

/** The types that every sidecar asks for. */
export const SHORT_TYPES = ['cds', 'eds', 'lds', 'rds'] as const;

/** `cds` of a type URL; the message's name where there is no short one. */
export function shortType(typeUrl: string): string {
  return SHORT[typeUrl] ?? typeUrl.slice(typeUrl.lastIndexOf('.') + 1).toLowerCase();
}

/** The same as a label of a metric, of which there must be few: clients may ask for any type. */
export function typeLabel(typeUrl: string): string {
  return SHORT[typeUrl] ?? 'other';
}
