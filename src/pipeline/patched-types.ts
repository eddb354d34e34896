import type { envoy } from '#generated/proto/types.ts';
import { addedClusters, clusterContext, patchedCluster } from '../envoy/patch/clusters.ts';
import { addedListeners, listenerContext, patchedListener } from '../envoy/patch/listeners.ts';
import { isOfContext, matchesCluster } from '../envoy/patch/match.ts';
import { clusterRefusals, listenerRefusals, routeRefusals } from '../envoy/patch/refusals.ts';
import { patchedRoutes, patchesOfRoutes } from '../envoy/patch/routes.ts';
import { EXTERNAL_SDS_CLUSTER } from '../envoy/tls-context.ts';
import { peekNumber } from '../proto/peek.ts';
import type { PatchedType, PatchView } from './patching.ts';

type Cluster = envoy.config.cluster.v3.Cluster;
type Listener = envoy.config.listener.v3.Listener;
type RouteConfiguration = envoy.config.route.v3.RouteConfiguration;

const ROUTES = ['ROUTE_CONFIGURATION', 'VIRTUAL_HOST', 'HTTP_ROUTE'] as const;
const IN_ROUTES: ReadonlySet<string> = new Set(ROUTES);

/** A listener's `traffic_direction`, and its value for what comes to the proxy's own workload. */
const TRAFFIC_DIRECTION = 16;
const INBOUND = 1;

export const PATCHED_CLUSTERS: PatchedType = {
  fullName: 'envoy.config.cluster.v3.Cluster',
  wanted: { name: 'cluster', applyTo: new Set(['CLUSTER']) },
  // What inbound clusters are for stands in them; of the others the name tells.
  concerns: ({ name }, { patches }, { isGateway }) =>
    name !== EXTERNAL_SDS_CLUSTER &&
    (clusterContext(name, isGateway) === 'SIDECAR_INBOUND' ||
      patches.some((patch) => matchesCluster(patch, name, () => []))),
  patched: (cluster: Cluster, set, { isGateway }) =>
    patchedCluster(cluster, set, clusterContext(cluster.name ?? '', isGateway)),
  added: addedClusters,
  refusals: clusterRefusals,
};

export const PATCHED_LISTENERS: PatchedType = {
  fullName: 'envoy.config.listener.v3.Listener',
  wanted: {
    name: 'listener',
    // A sidecar's routes to its own workload stand in its listeners.
    applyTo: new Set(['LISTENER', 'LISTENER_FILTER', 'FILTER_CHAIN', 'NETWORK_FILTER', 'HTTP_FILTER', ...ROUTES]),
  },
  concerns: ({ name, bytes }, { patches }, { isGateway }) => {
    const isInbound = !isGateway && peekNumber(bytes, TRAFFIC_DIRECTION) === INBOUND;
    const context = listenerContext({ trafficDirection: isInbound ? 'INBOUND' : 'OUTBOUND' }, isGateway);
    return patches.some((patch) => {
      const { applyTo, match } = patch;
      if (!isOfContext(patch, context) || (IN_ROUTES.has(applyTo) && !isInbound)) return false;
      return match.listener?.name === undefined || match.listener.name === name;
    });
  },
  patched: (listener: Listener, set, { isGateway }) =>
    patchedListener(listener, set, listenerContext(listener, isGateway)),
  added: addedListeners,
  refusals: listenerRefusals,
};

const routeContext = ({ isGateway }: PatchView) => (isGateway ? 'GATEWAY' : 'SIDECAR_OUTBOUND');

export const PATCHED_ROUTES: PatchedType = {
  fullName: 'envoy.config.route.v3.RouteConfiguration',
  wanted: { name: 'route', applyTo: new Set(ROUTES) },
  concerns: ({ name }, set, view) => patchesOfRoutes(set, { name }, routeContext(view), view.ports).length > 0,
  patched: (configuration: RouteConfiguration, set, view) =>
    patchedRoutes(configuration, patchesOfRoutes(set, configuration, routeContext(view), view.ports)),
  added: () => [],
  refusals: routeRefusals,
};
