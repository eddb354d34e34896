import { deepEqual, sameItems } from '../base/equal.ts';
import type { Hostname } from '../base/host.ts';
import { append } from '../base/multimap.ts';
import type { ConfigKey } from '../config/config.ts';
import type { Derived, Graph } from '../derive/graph.ts';
import { clusterName } from '../envoy/names.ts';
import type { CatchAllInput, UnknownHosts } from '../envoy/routes/configuration.ts';
import { type EgressRoutes, type RouteSource, routeSources } from '../envoy/routes/route-names.ts';
import { parseProtocol } from '../model/protocol.ts';
import type { EgressListener, SidecarScope, VirtualServiceHead } from '../model/scope.ts';
import type { Service } from '../model/service.ts';
import type { Mesh } from './mesh.ts';
import type { RouteView } from './route-view.ts';

/** `listener|port`: the virtual hosts that one egress listener has on one port, or with port 0 on all. */
export type PlanKey = string;

export function planKey(listener: number, port: number): PlanKey {
  return `${listener}|${port}`;
}

/** An egress listener, its services also by port. */
export interface RouteListener extends EgressRoutes {
  readonly servicesOfPort: ReadonlyMap<number, readonly Service[]>;
  /** In order of precedence; those without HTTP routes are named by `mostSpecific` too. */
  readonly virtualServices: readonly VirtualServiceHead[];
  readonly mostSpecific: ReadonlyMap<Hostname, ConfigKey>;
}

export interface RouteInputs {
  readonly listeners: Derived<RouteView, readonly RouteListener[]>;
  /** By name of the route configuration. */
  readonly sources: Derived<RouteView, ReadonlyMap<string, RouteSource>>;
  /** Of all sources. */
  readonly planKeys: Derived<RouteView, readonly PlanKey[]>;
  readonly catchAll: Derived<RouteView, CatchAllInput>;
}

type OutboundPolicy = SidecarScope['outboundTrafficPolicy'];

const UNKNOWN_HOSTS: Readonly<Record<OutboundPolicy['mode'], UnknownHosts>> = {
  ALLOW_ANY: 'passthrough',
  ALLOW_ANY_DYNAMIC_DNS: 'dynamic-dns',
  REGISTRY_ONLY: 'refused',
};

/** What of its scope a view reads for routes; equal as long as nothing of that changes. */
export function deriveRouteInputs(graph: Graph, mesh: Mesh): RouteInputs {
  const byPort = new WeakMap<readonly Service[], ReadonlyMap<number, readonly Service[]>>();
  const servicesOfPort = (services: readonly Service[]): ReadonlyMap<number, readonly Service[]> => {
    const known = byPort.get(services) ?? groupedByPort(services);
    byPort.set(services, known);
    return known;
  };

  const listeners = graph.derived<RouteView, readonly RouteListener[]>(
    'routeListeners',
    (view) =>
      mesh.sidecarScope.get(view).egress.map((egress) => ({
        ...egressRoutes(egress),
        servicesOfPort: servicesOfPort(egress.services),
        virtualServices: egress.virtualServices,
        mostSpecific: egress.mostSpecificVirtualService,
      })),
    { equals: (a, b) => sameItems(a, b, sameListener) },
  );
  const sources = graph.derived<RouteView, ReadonlyMap<string, RouteSource>>(
    'routeSources',
    (view) =>
      routeSources({
        listeners: listeners.get(view),
        view: view.addresses,
        unredirected: view.unredirected,
        httpProxy: view.httpProxy,
      }),
    { equals: deepEqual },
  );
  const planKeys = graph.derived<RouteView, readonly PlanKey[]>(
    'routePlanKeys',
    (view) => {
      const keys = new Set<PlanKey>();
      for (const { listener, port } of sources.get(view).values()) {
        if (listener !== undefined) keys.add(planKey(listener, port));
      }
      return [...keys];
    },
    { equals: sameItems },
  );
  const catchAll = graph.derived<RouteView, CatchAllInput>(
    'routeCatchAll',
    (view) => {
      const { mode, egressProxy } = mesh.sidecarScope.get(view).outboundTrafficPolicy;
      const { includeRequestAttemptCount, appendXForwardedHost } = view;
      return {
        unknownHosts: UNKNOWN_HOSTS[mode],
        ...(egressProxy && { egressCluster: egressProxyCluster(egressProxy) }),
        includeRequestAttemptCount,
        appendXForwardedHost,
      };
    },
    { equals: deepEqual },
  );
  return { listeners, sources, planKeys, catchAll };
}

function egressProxyCluster({ host = '', subset = '', port }: NonNullable<OutboundPolicy['egressProxy']>): string {
  return clusterName('outbound', port?.number ?? 0, subset, host);
}

function egressRoutes({ listener, services }: EgressListener): EgressRoutes {
  const port = listener?.port;
  return {
    ...(port && { port: port.number ?? 0 }),
    protocol: parseProtocol(port?.protocol ?? ''),
    bind: listener?.bind ?? '',
    unredirected: listener?.captureMode === 'NONE',
    services,
  };
}

function groupedByPort(services: readonly Service[]): ReadonlyMap<number, readonly Service[]> {
  const groups = new Map<number, Service[]>();
  for (const service of services) for (const { port } of service.ports) append(groups, port, service);
  return groups;
}

/** `mostSpecific` and `servicesOfPort` follow from the others. */
function sameListener(a: RouteListener, b: RouteListener): boolean {
  return (
    a.port === b.port &&
    a.protocol === b.protocol &&
    a.bind === b.bind &&
    a.unredirected === b.unredirected &&
    sameItems(a.services, b.services) &&
    sameItems(a.virtualServices, b.virtualServices)
  );
}
