import type { envoy } from '#generated/proto/types.ts';
import {
  type Context,
  hasRouteMatch,
  isOfContext,
  type ListenPorts,
  matchesRoute,
  matchesRouteConfiguration,
  matchesVirtualHost,
} from './match.ts';
import { isMerge, mergedWhole } from './merge-filter.ts';
import type { Patch, PatchSet } from './patch.ts';
import type { Patched } from './patched.ts';
import { placed } from './places.ts';

type RouteConfiguration = envoy.config.route.v3.RouteConfiguration;
type VirtualHost = envoy.config.route.v3.VirtualHost;
type Route = envoy.config.route.v3.Route;

const ROUTE_CONFIGURATION = 'envoy.config.route.v3.RouteConfiguration';
const VIRTUAL_HOST = 'envoy.config.route.v3.VirtualHost';
const ROUTE = 'envoy.config.route.v3.Route';

/** Kinds of patches that routes are changed by. */
const OF_ROUTES: ReadonlySet<string> = new Set(['ROUTE_CONFIGURATION', 'VIRTUAL_HOST', 'HTTP_ROUTE']);

/** The patches that a route configuration may be changed by, as far as its name tells. */
export function patchesOfRoutes(
  { patches }: PatchSet,
  configuration: Pick<RouteConfiguration, 'name'>,
  context: Context,
  ports: ListenPorts,
): readonly Patch[] {
  return patches.filter(
    (patch) =>
      OF_ROUTES.has(patch.applyTo) &&
      isOfContext(patch, context) &&
      matchesRouteConfiguration(patch, configuration, context, ports),
  );
}

/**
 * @param patches those that are for this configuration
 * @see istio/istio pilot/pkg/networking/core/envoyfilter/rc_patch.go
 */
export function patchedRoutes(
  configuration: RouteConfiguration,
  patches: readonly Patch[],
): Patched<RouteConfiguration> & { readonly object: RouteConfiguration } {
  const applied = new Set<Patch>();
  let out = configuration;
  for (const patch of patches) {
    if (patch.applyTo !== 'ROUTE_CONFIGURATION' || !isMerge(patch)) continue;
    applied.add(patch);
    out = mergedWhole(ROUTE_CONFIGURATION, out, patch);
  }
  const removed = new Set<string | undefined>();
  const hosts = (out.virtualHosts ?? []).map((host) => {
    const patched = patchedVirtualHost(host, patches, applied);
    if (patched === undefined) removed.add(host.name);
    return patched ?? host;
  });
  for (const patch of patches) {
    if (patch.applyTo !== 'VIRTUAL_HOST' || patch.operation !== 'ADD') continue;
    applied.add(patch);
    hosts.push(patch.value as VirtualHost);
  }
  const virtualHosts = removed.size === 0 ? hosts : hosts.filter(({ name }) => !removed.has(name));
  // Listeners refer to it by its name.
  const name = configuration.name === undefined ? {} : { name: configuration.name };
  return { object: { ...out, ...name, virtualHosts }, applied };
}

/** Undefined: it is removed. */
function patchedVirtualHost(
  host: VirtualHost,
  patches: readonly Patch[],
  applied: Set<Patch>,
): VirtualHost | undefined {
  let out = host;
  for (const patch of patches) {
    if (patch.applyTo !== 'VIRTUAL_HOST' || patch.operation === 'ADD' || !matchesVirtualHost(patch, out)) continue;
    applied.add(patch);
    if (patch.operation === 'REMOVE') return undefined;
    if (isMerge(patch)) out = mergedWhole(VIRTUAL_HOST, out, patch);
    else if (patch.operation === 'REPLACE') out = patch.value as VirtualHost;
  }
  const ofRoutes = patches.filter(({ applyTo }) => applyTo === 'HTTP_ROUTE');
  return ofRoutes.length === 0 ? out : withRoutes(out, ofRoutes, applied);
}

function withRoutes(host: VirtualHost, patches: readonly Patch[], applied: Set<Patch>): VirtualHost {
  const ofHost = patches.filter((patch) => matchesVirtualHost(patch, host));
  let routes = (host.routes ?? []).flatMap((route) => patchedRoute(route, ofHost, applied) ?? []);
  for (const patch of ofHost) {
    const made = insertedRoute(routes, patch);
    if (made === undefined) continue;
    applied.add(patch);
    routes = [...made];
  }
  return { ...host, routes };
}

/** Undefined: it is removed. */
function patchedRoute(route: Route, patches: readonly Patch[], applied: Set<Patch>): Route | undefined {
  let out = route;
  for (const patch of patches) {
    if (!matchesRoute(patch, out)) continue;
    if (patch.operation === 'REMOVE') {
      applied.add(patch);
      return undefined;
    }
    if (!isMerge(patch)) continue;
    applied.add(patch);
    out = mergedWhole(ROUTE, out, patch);
  }
  return out;
}

/** Undefined: nothing is inserted. */
function insertedRoute(routes: readonly Route[], patch: Patch): readonly Route[] | undefined {
  const { operation } = patch;
  if (operation !== 'ADD' && !operation.startsWith('INSERT_')) return undefined;
  const place = { isNamed: hasRouteMatch(patch), matches: (route: Route) => matchesRoute(patch, route) };
  // Also what is inserted first needs the route that its patch names.
  if (operation === 'INSERT_FIRST' && place.isNamed && !routes.some(place.matches)) return undefined;
  return placed(routes, patch, place);
}
