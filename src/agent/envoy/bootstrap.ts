import type { ProxyConfig } from '#generated/config/specs.ts';
import type { JsonObject, JsonValue } from '../../base/json.ts';

/** Ports of this machine that an Envoy and its agent use. */
export interface EnvoyPorts {
  /** Of Envoy's admin interface, on loopback. */
  readonly admin: number;
  /** Of the agent's own HTTP. */
  readonly agent: number;
  /** On which Envoy says whether the workload is ready; 0: it does not. */
  readonly ready: number;
  /** On which Envoy tells its own metrics; 0: it does not. */
  readonly metrics: number;
}

export interface BootstrapOptions {
  /** `envoy.config.core.v3.Node` in proto JSON, without what the agent adds. */
  readonly node: JsonObject;
  readonly proxyConfig: ProxyConfig;
  readonly ports: EnvoyPorts;
  /** Paths of the agent's sockets, as Envoy opens them. */
  readonly xdsSocket: string;
  readonly sdsSocket: string;
}

const HTTP_OPTIONS = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions';
const CONNECTION_MANAGER = 'envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager';
const ROUTER = 'envoy.extensions.filters.http.router.v3.Router';

const ADMIN_CLUSTER = 'prometheus_stats';
const AGENT_CLUSTER = 'agent';

/**
 * What an Envoy is started with: it is served with all else by its agent, over one incremental stream.
 *
 * @returns `envoy.config.bootstrap.v3.Bootstrap` in proto JSON
 * @see istio/istio tools/packaging/common/envoy_bootstrap.json
 */
export function bootstrap({ node, proxyConfig, ports, xdsSocket, sdsSocket }: BootstrapOptions): JsonObject {
  const { runtimeValues = {} } = proxyConfig;
  const ads = { ads: {}, initialFetchTimeout: '0s', resourceApiVersion: 'V3' };
  return {
    node,
    admin: { address: address('127.0.0.1', ports.admin) },
    dynamicResources: {
      adsConfig: {
        apiType: 'DELTA_GRPC',
        transportApiVersion: 'V3',
        setNodeOnFirstMessageOnly: true,
        grpcServices: [{ envoyGrpc: { clusterName: 'xds-grpc' } }],
      },
      cdsConfig: ads,
      ldsConfig: ads,
    },
    staticResources: {
      clusters: [
        grpcCluster('xds-grpc', xdsSocket),
        grpcCluster('sds-grpc', sdsSocket),
        cluster(ADMIN_CLUSTER, address('127.0.0.1', ports.admin)),
        cluster(AGENT_CLUSTER, address('127.0.0.1', ports.agent)),
      ],
      listeners: [
        ...(ports.metrics === 0 ? [] : [listener('prometheus', ports.metrics, '/stats/prometheus', ADMIN_CLUSTER)]),
        ...(ports.ready === 0 ? [] : [listener('ready', ports.ready, '/healthz/ready', AGENT_CLUSTER)]),
      ],
    },
    layeredRuntime: {
      layers: [
        { name: 'global config', staticLayer: runtimeValues },
        { name: 'admin', adminLayer: {} },
      ],
    },
  };
}

function address(host: string, port: number): JsonObject {
  return { socketAddress: { address: host, portValue: port } };
}

function cluster(name: string, where: JsonObject): JsonObject {
  return {
    name,
    type: 'STATIC',
    connectTimeout: '0.250s',
    lbPolicy: 'ROUND_ROBIN',
    loadAssignment: { clusterName: name, endpoints: [{ lbEndpoints: [{ endpoint: { address: where } }] }] },
  };
}

function grpcCluster(name: string, socket: string): JsonObject {
  return {
    ...cluster(name, { pipe: { path: socket } }),
    connectTimeout: '1s',
    typedExtensionProtocolOptions: {
      [HTTP_OPTIONS]: typed(HTTP_OPTIONS, { explicitHttpConfig: { http2ProtocolOptions: {} } }),
    },
  };
}

/** Passes one path on to a cluster of this machine, and answers all others with 404. */
function listener(name: string, port: number, path: string, to: string): JsonObject {
  const manager = typed(CONNECTION_MANAGER, {
    statPrefix: name,
    codecType: 'AUTO',
    routeConfig: {
      virtualHosts: [{ name, domains: ['*'], routes: [{ match: { path }, route: { cluster: to } }] }],
    },
    httpFilters: [{ name: 'envoy.filters.http.router', typedConfig: typed(ROUTER, {}) }],
  });
  return {
    name,
    address: address('0.0.0.0', port),
    filterChains: [{ filters: [{ name: 'envoy.filters.network.http_connection_manager', typedConfig: manager }] }],
  };
}

function typed(message: string, fields: Readonly<Record<string, JsonValue>>): JsonObject {
  return { '@type': `type.googleapis.com/${message}`, ...fields };
}
