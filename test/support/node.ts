import type { JsonObject } from '../../src/base/json.ts';

export interface NodeOptions {
  /** `sidecar` unless told otherwise. */
  readonly type?: string;
  readonly ips?: readonly string[];
  /** With its namespace: `client-1.shop`. */
  readonly id: string;
  readonly namespace: string;
  readonly dnsDomain?: string;
  readonly metadata?: JsonObject;
  readonly locality?: JsonObject;
  /** Says that it has Istio's extensions. */
  readonly istio?: boolean;
}

/** What Istio's build of Envoy lists and an upstream one does not have. */
const ISTIO_EXTENSIONS = [
  'istio.metadata_exchange',
  'istio.stats',
  'istio.alpn',
  'envoy.filters.network.metadata_exchange',
  'envoy.filters.http.alpn',
  'istio_authn',
  'envoy.filters.http.peer_metadata',
  'waypoint_peer_metadata',
];

/** An `envoy.config.core.v3.Node` in proto JSON, as Istio's bootstrap writes it. */
export function nodeJson(options: NodeOptions): JsonObject {
  const { type = 'sidecar', ips = ['127.0.0.1'], id, namespace, metadata = {}, locality, istio = false } = options;
  const { dnsDomain = `${namespace}.svc.cluster.local` } = options;
  return {
    id: `${type}~${ips[0]}~${id}~${dnsDomain}`,
    cluster: id,
    metadata: { NAMESPACE: namespace, INSTANCE_IPS: ips.join(), ...metadata },
    ...(locality === undefined ? {} : { locality }),
    userAgentName: 'envoy',
    ...(istio ? { extensions: ISTIO_EXTENSIONS.map((name) => ({ name })) } : {}),
  };
}
