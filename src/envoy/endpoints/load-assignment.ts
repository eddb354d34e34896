import type { envoy } from '#generated/proto/types.ts';
import { isIpAddress } from '../../base/address.ts';
import { type Labels, selects } from '../../base/labels.ts';
import type { Endpoint } from '../../model/endpoint.ts';
import type { LocalityPolicy } from '../../model/locality-policy.ts';
import type { NetworkGateways } from '../../model/network-gateways.ts';
import type { Service } from '../../model/service.ts';
import { type EndpointGroup, groupByLocality, localityEndpoints, withEndpoints } from './groups.ts';
import { healthOf, lbEndpoint } from './lb-endpoint.ts';
import { balanced, type LocalityView } from './locality.ts';
import { type NetworkView, throughGateways } from './network-gateways.ts';

type ClusterLoadAssignment = envoy.config.endpoint.v3.ClusterLoadAssignment;

/** What of a proxy counts for the endpoints of one service; each part only where it does. */
export interface EndpointView {
  /** Its node, where a service's traffic stays on the node. */
  readonly nodeName?: string;
  /** Its cluster, where a service's traffic stays in the cluster. */
  readonly clusterId?: string;
  /** The networks that it wants to see; those without a name are always seen. */
  readonly visibleNetworks?: readonly string[];
  /** Where networks have gateways. */
  readonly network?: NetworkView;
  /** Where localities count. */
  readonly locality?: LocalityView;
}

export interface EndpointsInput {
  readonly service: Pick<Service, 'persistentSession'>;
  /** Of the port and the subset. */
  readonly endpoints: readonly Endpoint[];
  readonly view: EndpointView;
  /** Whether the client would speak mutual TLS with an endpoint. */
  readonly speaksMtls: (endpoint: Endpoint) => boolean;
  /** Unhealthy endpoints are sent too, marked as such, so that the share of healthy ones is known. */
  readonly unhealthy: boolean;
  /** Present in a mesh whose networks have gateways. */
  readonly gateways?: NetworkGateways | undefined;
  readonly dualStack: boolean;
  /** Leaves out endpoints that take plaintext: for gateways that pass TLS on unopened. */
  readonly mtlsOnly: boolean;
  /** How localities count; undefined: not at all. */
  readonly localityPolicy?: LocalityPolicy | undefined;
  readonly outlierDetection: boolean;
}

/** Endpoints of a port and a subset. @param servicePort its name, or its number for clusters that the proxy resolves by DNS */
export function endpointsOf(
  endpoints: readonly Endpoint[],
  servicePort: { readonly name: string } | { readonly number: number },
  subset: Labels | undefined,
): readonly Endpoint[] {
  return endpoints.filter(
    (endpoint) =>
      ('name' in servicePort
        ? endpoint.servicePortName === servicePort.name
        : endpoint.servicePort === servicePort.number) && selects(subset, endpoint.labels),
  );
}

/** EDS takes addresses only: a name would have to be resolved by the proxy. */
export function isAddress({ addresses: [first = ''], port }: Endpoint): boolean {
  return first === '' || port === 0 || isIpAddress(first);
}

/**
 * Groups of a load assignment in order of localities.
 * @see istio/istio pilot/pkg/xds/endpoints/endpoint_builder.go `BuildClusterLoadAssignment`, `generate`
 */
export function endpointGroups(input: EndpointsInput): readonly EndpointGroup[] {
  const { view, gateways, localityPolicy, dualStack, speaksMtls } = input;
  const scale = gateways?.scale ?? 1;
  const built = input.endpoints
    .filter((endpoint) => isSent(endpoint, input))
    .map((endpoint) => ({
      locality: endpoint.locality,
      endpoint: lbEndpoint({ endpoint, mtls: speaksMtls(endpoint), dualStack, scale }),
    }));
  let groups = groupByLocality(built);
  if (gateways !== undefined && view.network !== undefined) groups = throughGateways(groups, gateways, view.network);
  if (input.mtlsOnly)
    groups = groups.map((group) =>
      withEndpoints(
        group,
        group.endpoints.filter(({ mtls }) => mtls),
      ),
    );
  if (localityPolicy === undefined || view.locality === undefined) return groups;
  return balanced(groups, localityPolicy, view.locality, input.outlierDetection);
}

/** @see istio/istio pilot/pkg/xds/endpoints/endpoint_builder.go `filterIstioEndpoint` */
function isSent(endpoint: Endpoint, { service, view, unhealthy, gateways }: EndpointsInput): boolean {
  if (view.nodeName !== undefined && (endpoint.nodeName ?? '') !== view.nodeName) return false;
  if (view.clusterId !== undefined && endpoint.clusterId !== view.clusterId) return false;
  if (view.visibleNetworks && endpoint.network !== '' && !view.visibleNetworks.includes(endpoint.network)) return false;
  // Without gateways nobody could say what to connect to.
  if (gateways === undefined && (endpoint.addresses[0] ?? '') === '') return false;
  const health = healthOf(endpoint);
  if (health === 'Terminating' || endpoint.health === 'Terminating') return false;
  if (endpoint.health === 'UnHealthy' && !unhealthy) return false;
  return health !== 'Draining' || service.persistentSession?.cookie !== undefined;
}

export function loadAssignment(clusterName: string, groups: readonly EndpointGroup[]): ClusterLoadAssignment {
  return { clusterName, ...(groups.length > 0 ? { endpoints: groups.map(localityEndpoints) } : {}) };
}
