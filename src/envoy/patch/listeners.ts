import type { ApplyTo } from '#generated/config/specs.ts';
import type { envoy, google } from '#generated/proto/types.ts';
import { mergedSocket } from './clusters.ts';
import { patchedHttpFilters } from './http-filters.ts';
import {
  type Context,
  isOfContext,
  listenerFilterOf,
  matchesFilterChain,
  matchesListener,
  networkFilterOf,
} from './match.ts';
import { isMerge, mergedFilter, mergedWhole } from './merge-filter.ts';
import type { Patch, PatchSet } from './patch.ts';
import type { Patched } from './patched.ts';
import { placed } from './places.ts';
import { patchedRoutes, patchesOfRoutes } from './routes.ts';

type Listener = envoy.config.listener.v3.Listener;
type ListenerFilter = envoy.config.listener.v3.ListenerFilter;
type FilterChain = envoy.config.listener.v3.FilterChain;
type Filter = envoy.config.listener.v3.Filter;
type ConnectionManager = envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager;

const LISTENER = 'envoy.config.listener.v3.Listener';
const FILTER_CHAIN = 'envoy.config.listener.v3.FilterChain';
const CONNECTION_MANAGER = 'envoy.filters.network.http_connection_manager';
const CONNECTION_MANAGER_TYPE =
  'type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager';

/** The context of a listener. */
export function listenerContext({ trafficDirection }: Listener, isGateway: boolean): Context {
  if (isGateway) return 'GATEWAY';
  return trafficDirection === 'INBOUND' ? 'SIDECAR_INBOUND' : 'SIDECAR_OUTBOUND';
}

/**
 * Routes that stand in a listener are patched before it, as those are that are sent on their own.
 *
 * @see istio/istio pilot/pkg/networking/core/envoyfilter/listener_patch.go
 */
export function patchedListener(listener: Listener, set: PatchSet, context: Context): Patched<Listener> {
  const applied = new Set<Patch>();
  const patches = set.patches.filter((patch) => isOfContext(patch, context));
  let out = context === 'SIDECAR_INBOUND' ? withPatchedRoutes(listener, set, applied) : listener;
  for (const patch of patches) {
    if (patch.applyTo !== 'LISTENER' || !matchesListener(patch, out)) continue;
    if (patch.operation === 'REMOVE') {
      applied.add(patch);
      return { applied };
    }
    if (!isMerge(patch)) continue;
    applied.add(patch);
    // Envoy tells listeners apart by their names.
    out = { ...mergedWhole(LISTENER, out, patch), name: listener.name ?? '' };
  }
  out = withListenerFilters(out, patches, applied);
  out = withFilterChains(out, patches, applied);
  return { object: out, applied };
}

/** Listeners that patches add. @see istio/istio pilot/pkg/networking/core/envoyfilter/listener_patch.go `patchListeners` */
export function addedListeners({ patches }: PatchSet): readonly (readonly [Patch, Listener])[] {
  return patches
    .filter(({ applyTo, operation }) => applyTo === 'LISTENER' && operation === 'ADD')
    .map((patch) => [patch, patch.value as Listener]);
}

const ofKind = (patches: readonly Patch[], applyTo: ApplyTo): readonly Patch[] =>
  patches.filter((patch) => patch.applyTo === applyTo);

function withListenerFilters(listener: Listener, patches: readonly Patch[], applied: Set<Patch>): Listener {
  let filters: readonly ListenerFilter[] = listener.listenerFilters ?? [];
  const before = filters;
  for (const patch of ofKind(patches, 'LISTENER_FILTER')) {
    if (!matchesListener(patch, listener)) continue;
    const name = listenerFilterOf(patch);
    const made =
      patch.operation === 'MERGE'
        ? mergedListenerFilters(filters, patch, name)
        : placed(filters, patch, { isNamed: name !== undefined, matches: (filter) => filter.name === name });
    if (made === undefined) continue;
    applied.add(patch);
    filters = made;
  }
  return filters === before ? listener : { ...listener, listenerFilters: [...filters] };
}

/** All of them, as the patch's place only says that there is one. A filter keeps its name. */
function mergedListenerFilters(
  filters: readonly ListenerFilter[],
  patch: Patch,
  name: string | undefined,
): readonly ListenerFilter[] | undefined {
  if (name === undefined) return undefined;
  const made = filters.map((filter) => {
    const merged = mergedFilter(filter, patch);
    return merged === undefined || filter.name === undefined ? filter : { ...merged, name: filter.name };
  });
  return made.some((filter, i) => filter !== filters[i]) ? made : undefined;
}

function withFilterChains(listener: Listener, patches: readonly Patch[], applied: Set<Patch>): Listener {
  const ofListener = patches.filter((patch) => patch.applyTo !== 'LISTENER' && matchesListener(patch, listener));
  if (ofListener.length === 0) return listener;
  const chains = (listener.filterChains ?? []).flatMap(
    (chain) => patchedFilterChain(listener, chain, ofListener, applied) ?? [],
  );
  for (const patch of ofKind(ofListener, 'FILTER_CHAIN')) {
    if (patch.operation !== 'ADD') continue;
    applied.add(patch);
    chains.push(patch.value as FilterChain);
  }
  const { defaultFilterChain: last, ...rest } = listener;
  const kept = last && patchedFilterChain(listener, last, ofListener, applied);
  return {
    ...rest,
    // One without filters serves nothing.
    filterChains: chains.filter(({ filters }) => filters !== undefined),
    ...(kept && { defaultFilterChain: kept }),
  };
}

/** Undefined: it is removed. */
function patchedFilterChain(
  listener: Listener,
  chain: FilterChain,
  patches: readonly Patch[],
  applied: Set<Patch>,
): FilterChain | undefined {
  if (chain.filters === undefined) return chain;
  let out = chain;
  for (const patch of ofKind(patches, 'FILTER_CHAIN')) {
    if (patch.operation === 'ADD' || !matchesFilterChain(patch, listener, out)) continue;
    if (patch.operation === 'REMOVE') {
      applied.add(patch);
      return undefined;
    }
    if (!isMerge(patch)) continue;
    applied.add(patch);
    out = withTransportSocket(out, patch) ?? mergedWhole(FILTER_CHAIN, out, patch);
  }
  const ofChain = patches.filter((patch) => matchesFilterChain(patch, listener, out));
  return withNetworkFilters(out, ofChain, applied);
}

/** A patch of a transport socket that the chain has is about it alone. Undefined for any other. */
function withTransportSocket(chain: FilterChain, { value }: Patch): FilterChain | undefined {
  const { transportSocket: source } = value as FilterChain;
  const { transportSocket: target } = chain;
  if (source === undefined || target === undefined || source.name !== target.name) return undefined;
  return { ...chain, transportSocket: mergedSocket(target, source) };
}

function withNetworkFilters(chain: FilterChain, patches: readonly Patch[], applied: Set<Patch>): FilterChain {
  const ofFilters = ofKind(patches, 'NETWORK_FILTER');
  let filters: readonly Filter[] = chain.filters ?? [];
  for (const patch of ofFilters) {
    const name = networkFilterOf(patch);
    const made = placed(filters, patch, { isNamed: name !== undefined, matches: (filter) => filter.name === name });
    if (made === undefined) continue;
    applied.add(patch);
    filters = made;
  }
  const ofHttp = ofKind(patches, 'HTTP_FILTER');
  return { ...chain, filters: filters.map((filter) => patchedFilter(filter, ofFilters, ofHttp, applied)) };
}

function patchedFilter(
  filter: Filter,
  patches: readonly Patch[],
  ofHttp: readonly Patch[],
  applied: Set<Patch>,
): Filter {
  let out = filter;
  const isFor = (patch: Patch): boolean => [undefined, out.name].includes(networkFilterOf(patch));
  for (const patch of patches) {
    if (patch.operation !== 'MERGE' || !isFor(patch)) continue;
    const made = mergedFilter(out, patch);
    if (made === undefined) continue;
    applied.add(patch);
    out = made;
  }
  const here = ofHttp.filter(isFor);
  if (here.length === 0) return out;
  return withConnectionManager(out, (manager) => {
    const { httpFilters = [] } = manager;
    return { ...manager, httpFilters: [...patchedHttpFilters(httpFilters, here, applied)] };
  });
}

function withConnectionManager(filter: Filter, change: (manager: ConnectionManager) => ConnectionManager): Filter {
  const { typedConfig } = filter;
  if (filter.name !== CONNECTION_MANAGER || typedConfig?.['@type'] !== CONNECTION_MANAGER_TYPE) return filter;
  const changed = change(typedConfig as ConnectionManager) as google.protobuf.Any;
  return { ...filter, typedConfig: changed };
}

function withPatchedRoutes(listener: Listener, set: PatchSet, applied: Set<Patch>): Listener {
  const { filterChains = [], defaultFilterChain } = listener;
  const inChain = (chain: FilterChain): FilterChain => {
    if (chain.filters === undefined) return chain;
    return { ...chain, filters: chain.filters.map((filter) => withConnectionManager(filter, inManager)) };
  };
  const inManager = (manager: ConnectionManager): ConnectionManager => {
    if (manager.routeConfig === undefined) return manager;
    const patches = patchesOfRoutes(set, manager.routeConfig, 'SIDECAR_INBOUND', {});
    if (patches.length === 0) return manager;
    const patched = patchedRoutes(manager.routeConfig, patches);
    for (const patch of patched.applied) applied.add(patch);
    return { ...manager, routeConfig: patched.object };
  };
  return {
    ...listener,
    ...(listener.filterChains && { filterChains: filterChains.map(inChain) }),
    ...(defaultFilterChain && { defaultFilterChain: inChain(defaultFilterChain) }),
  };
}
