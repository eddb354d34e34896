import type { JsonObject } from '../../src/base/json.ts';
import type { Variant } from '../../src/xds/events.ts';

export interface BootstrapOptions {
  /** `host:port` of plaintext xDS. */
  readonly xds: string;
  /** `envoy.config.core.v3.Node` in proto JSON. */
  readonly node: JsonObject;
  /** Default delta. */
  readonly variant?: Variant;
  /** Static clusters beside that of the control plane: an SDS server, say. See `grpcCluster`. */
  readonly clusters?: readonly JsonObject[];
}

/** A bootstrap for an upstream Envoy that takes all its configuration over one ADS stream. */
export function envoyBootstrap({ xds, node, variant = 'delta', clusters = [] }: BootstrapOptions): JsonObject {
  return {
    node,
    dynamicResources: {
      adsConfig: {
        apiType: variant === 'delta' ? 'DELTA_GRPC' : 'GRPC',
        transportApiVersion: 'V3',
        grpcServices: [{ envoyGrpc: { clusterName: 'xds-grpc' } }],
      },
      cdsConfig: { ads: {}, resourceApiVersion: 'V3' },
      ldsConfig: { ads: {}, resourceApiVersion: 'V3' },
    },
    staticResources: { clusters: [grpcCluster('xds-grpc', xds), ...clusters] },
  };
}

/** A static cluster that speaks HTTP/2 in plaintext with `host:port`, or with a socket when the address begins with `/`. */
export function grpcCluster(name: string, address: string): JsonObject {
  const [host = '', port] = address.split(':');
  const endpoint = address.startsWith('/')
    ? { pipe: { path: address } }
    : { socketAddress: { address: host, portValue: Number(port) } };
  const options = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions';
  return {
    name,
    type: 'STATIC',
    connectTimeout: '1s',
    loadAssignment: { clusterName: name, endpoints: [{ lbEndpoints: [{ endpoint: { address: endpoint } }] }] },
    typedExtensionProtocolOptions: {
      [options]: {
        '@type': `type.googleapis.com/${options}`,
        explicitHttpConfig: { http2ProtocolOptions: {} },
      },
    },
  };
}
