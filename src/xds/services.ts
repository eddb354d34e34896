import {
  CLUSTER_TYPE,
  ENDPOINT_TYPE,
  EXTENSION_CONFIG_TYPE,
  LISTENER_TYPE,
  ROUTE_TYPE,
  SECRET_TYPE,
} from '../proto/type-urls.ts';

/** One gRPC service of the xDS API. */
export interface DiscoveryService {
  /** The full name. */
  readonly name: string;
  /** The only type that it serves; undefined: all, multiplexed. */
  readonly onlyType: string | undefined;
  /** Method names. */
  readonly stream: string;
  readonly delta: string;
  readonly fetch: string | undefined;
}

const ONE_TYPE: readonly (readonly [folder: string, service: string, methods: string, typeUrl: string])[] = [
  ['cluster', 'ClusterDiscoveryService', 'Clusters', CLUSTER_TYPE],
  ['endpoint', 'EndpointDiscoveryService', 'Endpoints', ENDPOINT_TYPE],
  ['listener', 'ListenerDiscoveryService', 'Listeners', LISTENER_TYPE],
  ['route', 'RouteDiscoveryService', 'Routes', ROUTE_TYPE],
  ['secret', 'SecretDiscoveryService', 'Secrets', SECRET_TYPE],
  ['extension', 'ExtensionConfigDiscoveryService', 'ExtensionConfigs', EXTENSION_CONFIG_TYPE],
];

/** All types on one stream: ADS. */
export const AGGREGATED_SERVICE: DiscoveryService = {
  name: 'envoy.service.discovery.v3.AggregatedDiscoveryService',
  onlyType: undefined,
  stream: 'StreamAggregatedResources',
  delta: 'DeltaAggregatedResources',
  fetch: undefined,
};

/**
 * The services that are offered.
 * @see xDS protocol, "RPC Services and Methods for Each Variant"
 */
export const DISCOVERY_SERVICES: readonly DiscoveryService[] = [
  AGGREGATED_SERVICE,
  ...ONE_TYPE.map(([folder, service, methods, onlyType]) => ({
    name: `envoy.service.${folder}.v3.${service}`,
    onlyType,
    stream: `Stream${methods}`,
    delta: `Delta${methods}`,
    fetch: `Fetch${methods}`,
  })),
];
