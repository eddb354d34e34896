import type { Destination, HTTPRoute, VirtualService } from '#generated/config/specs.ts';
import { contentVersion } from '../base/hash.ts';
import type { Hostname } from '../base/host.ts';
import type { Config } from '../config/config.ts';
import { MARKS } from '../config/marks.ts';

/** The gateway name that stands for every sidecar of the mesh. */
export const MESH_GATEWAY = 'mesh';

/**
 * How the rules of a VirtualService are read: `ingress` and `gateway` mark those made from Ingress and Gateway API
 * objects, whose path prefixes count whole path segments.
 */
export type RouteSemantics = 'istio' | 'ingress' | 'gateway';

export function routeSemantics({ annotations }: Pick<Config, 'annotations'>): RouteSemantics {
  const text = annotations[MARKS.routeSemantics];
  return text === 'ingress' || text === 'gateway' ? text : 'istio';
}

/**
 * The full name of a host that may be written short: a name without a dot is a service of the object's namespace.
 * `*`, IP addresses and full names stand for themselves.
 * @see istio/istio pilot/pkg/model/config.go `ResolveShortnameToFQDN`
 */
export function fullHostname(host: Hostname, namespace: string, domainSuffix: string): Hostname {
  if (host === '' || host === '*' || host.includes('.') || host.includes(':')) return host;
  const inNamespace = namespace === '' ? host : `${host}.${namespace}`;
  return domainSuffix === '' ? inNamespace : `${inNamespace}.svc.${domainSuffix}`;
}

/**
 * `namespace/name` of a gateway that is written as `name`, `./name`, `namespace/name`, or in the old form
 * `name.namespace[.svc…]`; `mesh` stands for itself.
 * @see istio/istio pilot/pkg/model/config.go `resolveGatewayName`
 */
export function gatewayKey(name: string, namespace: string): string {
  if (name === MESH_GATEWAY) return name;
  if (name.startsWith('./')) return `${namespace}/${name.slice(2)}`;
  if (name.includes('/')) return name;
  const [shortName, ownNamespace] = name.split('.', 2);
  return `${ownNamespace ?? namespace}/${shortName}`;
}

interface Resolver {
  readonly host: (host: Hostname) => Hostname;
  readonly gateways: (names: readonly string[]) => readonly string[];
}

function resolvedMatches<M extends { readonly gateways?: readonly string[] }>(
  matches: readonly M[],
  resolve: Resolver,
): readonly M[] {
  return matches.map((match) =>
    match.gateways === undefined ? match : { ...match, gateways: resolve.gateways(match.gateways) },
  );
}

function resolvedDestination(destination: Destination, resolve: Resolver): Destination {
  return { ...destination, host: resolve.host(destination.host) };
}

function resolvedTargets<T extends { readonly destination: Destination }>(
  targets: readonly T[],
  resolve: Resolver,
): readonly T[] {
  return targets.map((target) =>
    // A target without a destination was refused or comes from a conversion; it is kept as it stands.
    target.destination === undefined
      ? target
      : { ...target, destination: resolvedDestination(target.destination, resolve) },
  );
}

function resolvedHttp(route: HTTPRoute, resolve: Resolver): HTTPRoute {
  return {
    ...route,
    ...(route.match && { match: resolvedMatches(route.match, resolve) }),
    ...(route.route && { route: resolvedTargets(route.route, resolve) }),
    ...(route.mirror && { mirror: resolvedDestination(route.mirror, resolve) }),
    ...(route.mirrors && { mirrors: resolvedTargets(route.mirrors, resolve) }),
  };
}

/**
 * A VirtualService whose short names are written out: hosts, destinations and mirrors as FQDN, gateways as
 * `namespace/name`. One that was made from Gateway API objects has full names already and is returned as it is.
 * @see istio/istio pilot/pkg/model/virtualservice.go `ResolveVirtualServiceShortnames`
 */
export function resolveVirtualService(config: Config<VirtualService>, domainSuffix: string): Config<VirtualService> {
  if (routeSemantics(config) === 'gateway') return config;
  const { spec, namespace } = config;
  const resolve: Resolver = {
    host: (host) => fullHostname(host, namespace, domainSuffix),
    gateways: (names) => names.map((name) => gatewayKey(name, namespace)),
  };
  const resolved: VirtualService = {
    ...spec,
    ...(spec.hosts && { hosts: spec.hosts.map(resolve.host) }),
    ...(spec.gateways && { gateways: resolve.gateways(spec.gateways) }),
    ...(spec.http && { http: spec.http.map((route) => resolvedHttp(route, resolve)) }),
    ...(spec.tcp && {
      tcp: spec.tcp.map((route) => ({
        ...route,
        ...(route.match && { match: resolvedMatches(route.match, resolve) }),
        ...(route.route && { route: resolvedTargets(route.route, resolve) }),
      })),
    }),
    ...(spec.tls && {
      tls: spec.tls.map((route) => ({
        ...route,
        match: resolvedMatches(route.match, resolve),
        ...(route.route && { route: resolvedTargets(route.route, resolve) }),
      })),
    }),
  };
  return { ...config, spec: resolved, hash: contentVersion(`${config.hash}\n${domainSuffix}`) };
}

/**
 * Destination hosts of a resolved VirtualService with the ports that are named for them; 0 stands for a destination
 * without a port. With `clientNamespace`, HTTP routes that only other namespaces may take are left out.
 * @see istio/istio pilot/pkg/model/push_context.go `virtualServiceDestinationsFilteredBySourceNamespace`
 */
export function virtualServiceDestinations(
  spec: VirtualService,
  clientNamespace = '',
): ReadonlyMap<Hostname, ReadonlySet<number>> {
  const found = new Map<Hostname, Set<number>>();
  const add = (destination: Destination | undefined): void => {
    if (destination === undefined) return;
    const ports = found.get(destination.host);
    const port = destination.port?.number ?? 0;
    if (ports === undefined) found.set(destination.host, new Set([port]));
    else ports.add(port);
  };
  for (const route of spec.http ?? []) {
    if (clientNamespace !== '' && !admitsNamespace(route, clientNamespace)) continue;
    for (const { destination } of route.route ?? []) add(destination);
    add(route.mirror);
    for (const { destination } of route.mirrors ?? []) add(destination);
  }
  for (const route of [...(spec.tcp ?? []), ...(spec.tls ?? [])]) {
    for (const { destination } of route.route ?? []) add(destination);
  }
  return found;
}

/** The last match that names a namespace decides, unless one names the client's; matches that name none do not count. */
function admitsNamespace({ match }: HTTPRoute, namespace: string): boolean {
  const named = (match ?? []).map(({ sourceNamespace }) => sourceNamespace ?? '').filter((name) => name !== '');
  return named.length === 0 || named.includes(namespace);
}
