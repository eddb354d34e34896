import { deepEqual, sameItems } from '../../base/equal.ts';
import type { Hostname } from '../../base/host.ts';
import { canonicalJson } from '../../base/intern.ts';
import type { Labels } from '../../base/labels.ts';
import { ObjectNumbers, WeakInterner } from '../../base/weak-intern.ts';
import type { ConfigKey } from '../../config/config.ts';
import type { Collection, Derived, Graph } from '../../derive/graph.ts';
import { type BoundRoutes, gatewayVirtualHosts } from '../../envoy/gateways/virtual-hosts.ts';
import { admitsClient } from '../../envoy/routes/client-condition.ts';
import type { DestinationFacts } from '../../envoy/routes/destination.ts';
import { hostAndPort } from '../../envoy/routes/domains.ts';
import type { MergedGateway, MergeStyle } from '../../model/merged-gateway.ts';
import type { MergedServer } from '../../model/merged-gateway-server.ts';
import { OF_ROUTERS, type ProxyScope } from '../../model/scope.ts';
import type { Service } from '../../model/service.ts';
import { isVisible, visibilityOf } from '../../model/visibility.ts';
import type { EncodedResource } from '../../proto/resource-set.ts';
import { ComposedConfiguration } from '../composed-configuration.ts';
import { sameVersion } from '../encoded-resource.ts';
import { type Mesh, namespacedHost } from '../mesh.ts';
import type { Outbound } from '../outbound.ts';
import { proxyConfigOf } from '../proxy-config.ts';
import type { HashClient, HashRules } from '../route-hashes.ts';
import type { RouteHeads } from '../route-heads.ts';
import { type EncodedPart, type RoutesKey, routesKey, type VirtualHostKey, virtualHostKey } from '../virtual-hosts.ts';
import { mergeStyle } from './merged-gateways.ts';

/** What of a gateway its route configurations depend on. Interned. */
interface GatewayRouteView extends HashClient {
  readonly style: MergeStyle;
  readonly includeRequestAttemptCount: boolean;
  readonly appendXForwardedHost: boolean;
}

/** The virtual hosts of one route configuration. Interned. */
interface PlanKey {
  readonly servers: readonly MergedServer[];
  readonly view: GatewayRouteView;
}

/** All route configurations of a gateway. Interned. */
interface SetKey {
  readonly merged: MergedGateway;
  readonly view: GatewayRouteView;
}

export interface GatewayRouteSources {
  readonly outbound: Outbound;
  readonly heads: RouteHeads;
  readonly hashRules: Derived<HashClient, HashRules>;
  readonly virtualHosts: Derived<VirtualHostKey, EncodedPart>;
}

/** Route configurations of routers. Undefined for a proxy without Gateways. */
export interface GatewayRoutes {
  readonly setOf: Derived<ProxyScope, SetKey | undefined>;
  readonly configurations: Collection<SetKey, string, EncodedResource>;
}

/** A plan names the virtual hosts of a configuration; each of these is translated on its own, as those of sidecars are. */
export function deriveGatewayRoutes(
  graph: Graph,
  mesh: Mesh,
  { outbound, heads, hashRules, virtualHosts }: GatewayRouteSources,
): GatewayRoutes {
  const views = new WeakInterner<GatewayRouteView>();
  const planKeys = new WeakInterner<PlanKey>();
  const sets = new WeakInterner<SetKey>();
  const numbers = new ObjectNumbers();
  const persistentSessions = mesh.options.listeners.persistentSessions;

  /** Key `namespace|virtualServiceNamespace|host`: the service that a VirtualService means, where a gateway may see it. */
  const destinations = graph.derived<string, DestinationFacts>(
    'gatewayDestination',
    (key) => {
      const [namespace = '', ruleNamespace = '', host = ''] = key.split('|');
      const near = mesh.service.get(namespacedHost(ruleNamespace, host));
      const service =
        near !== undefined && isSeen(near, namespace, mesh)
          ? near
          : outbound.knownService({ namespace, sidecar: OF_ROUTERS }, host);
      if (service === undefined) return {};
      const { externalName, ports, persistentSession: session } = service;
      const [only, ...others] = ports;
      return {
        ...(externalName && { externalName }),
        ...(only !== undefined && others.length === 0 ? { onlyPort: only.port } : {}),
        ...(session && persistentSessions && { session }),
      };
    },
    { equals: deepEqual },
  );
  const factsOf = (config: ConfigKey, host: Hostname, view: GatewayRouteView): DestinationFacts => {
    const hashRule = hashRules.get(view).get(host);
    const known = destinations.get(`${view.namespace}|${namespaceOf(config)}|${host}`);
    return { ...known, ...(hashRule && { hashRule }) };
  };

  const routesOf = ({ virtualService, gateway, port, isTls }: BoundRoutes, view: GatewayRouteView): RoutesKey => {
    const head = heads.get(virtualService);
    const asked = (head?.labelNames ?? []).filter((name) => name in view.labels);
    return routesKey({
      virtualService,
      gateway,
      ...(isTls && { isTls }),
      listenPort: port,
      namespace: head?.asksNamespace ? view.namespace : '',
      labels: Object.fromEntries(asked.map((name) => [name, view.labels[name] ?? ''])),
      proxylessGrpc: false,
      appendXForwardedHost: view.appendXForwardedHost,
      destinations: (head?.destinations ?? []).flatMap((host) => {
        const facts = factsOf(virtualService, host, view);
        return Object.keys(facts).length === 0 ? [] : [[host, facts] as const];
      }),
    });
  };
  const plans = graph.derived<PlanKey, readonly VirtualHostKey[]>(
    'gatewayRoutePlan',
    ({ servers, view }) => {
      const { namespace, labels, includeRequestAttemptCount } = view;
      const hosts = gatewayVirtualHosts({
        servers,
        style: view.style,
        virtualServices: (server) => mesh.boundVirtualServices.forServer(namespace, server),
        hasRoutes: ({ virtualService, gateway, port: listenPort }) => {
          const client = { listenPort, gateways: new Set([gateway]), namespace, labels };
          return heads.get(virtualService)?.conditions.some((condition) => admitsClient(condition, client)) === true;
        },
      });
      const keys = new Map<BoundRoutes, RoutesKey>();
      const keyOf = (routes: BoundRoutes): RoutesKey => {
        const key = keys.get(routes) ?? routesOf(routes, view);
        keys.set(routes, key);
        return key;
      };
      if (hosts.length === 0) return [nothingHere(servers[0]?.port ?? 0)];
      return hosts.map(({ name, domains, routes, virtualService, requiresTls }) =>
        virtualHostKey({
          name,
          domains,
          includeRequestAttemptCount,
          ...(requiresTls && { requiresTls }),
          session: sessionOf(domains[0] ?? '', virtualService, view),
          to: { routes: routes.map(keyOf) },
        }),
      );
    },
    { equals: sameItems },
  );
  /** A host that is itself a destination of its VirtualService is kept with one endpoint as that says. */
  const sessionOf = (host: Hostname, virtualService: ConfigKey | undefined, view: GatewayRouteView) => {
    if (virtualService === undefined || !heads.get(virtualService)?.destinations.includes(host)) return undefined;
    return factsOf(virtualService, host, view).session;
  };

  const configurations = graph.collection<SetKey, string, EncodedResource>('gatewayRouteConfiguration', {
    items: ({ merged }) => merged.routes.keys(),
    value: (name, { merged, view }) => {
      const servers = merged.routes.get(name) ?? [];
      const key = planKeys.intern(`${canonicalJson(servers)}~${numbers.of(view)}`, () => ({ servers, view }));
      const others = plans.get(key).map((virtualHost) => virtualHosts.get(virtualHost));
      return new ComposedConfiguration(name, { others });
    },
    equals: sameVersion,
  });

  /** Labels by which VirtualServices of these gateways, or DestinationRules, tell proxies apart. */
  const labelsOf = (scope: ProxyScope, merged: MergedGateway): Labels => {
    const gateways = new Set([...merged.routes.values()].flat().map(({ gateway }) => gateway));
    const names = [...gateways].flatMap((gateway) =>
      mesh.virtualServicesForGateway
        .get(`${scope.namespace}|${gateway}`)
        .filter(({ hasSourceLabels }) => hasSourceLabels)
        .flatMap(({ key }) => heads.get(key)?.labelNames ?? []),
    );
    const asked = names.filter((name) => name in scope.labels).map((name) => [name, scope.labels[name] ?? '']);
    return { ...outbound.scopeOf.get(scope)?.labels, ...Object.fromEntries(asked) };
  };
  const setOf = graph.derived<ProxyScope, SetKey | undefined>('gatewayRoutesOf', (scope) => {
    const merged = mesh.mergedGateway.get(scope);
    if (merged === undefined) return undefined;
    const { proxyHeaders } = proxyConfigOf(scope, mesh);
    const view: GatewayRouteView = {
      namespace: scope.namespace,
      sidecar: OF_ROUTERS,
      labels: labelsOf(scope, merged),
      style: mergeStyle(scope),
      includeRequestAttemptCount: proxyHeaders?.attemptCount?.disabled !== true,
      appendXForwardedHost: proxyHeaders?.xForwardedHost?.enabled === true,
    };
    const interned = views.intern(canonicalJson(view), () => Object.freeze(view));
    return sets.intern(`${numbers.of(merged)}~${numbers.of(interned)}`, () => ({ merged, view: interned }));
  });
  return { setOf, configurations };
}

function namespaceOf(key: ConfigKey): string {
  return key.split('/')[2] ?? '';
}

function isSeen({ exportTo, namespace: own }: Service, namespace: string, mesh: Mesh): boolean {
  return isVisible(visibilityOf(exportTo, mesh.facet('defaultServiceExportTo') ?? ['*'], own), namespace);
}

/** Without routes Envoy answers 404. */
function nothingHere(port: number): VirtualHostKey {
  return virtualHostKey({
    name: hostAndPort('blackhole', port),
    domains: ['*'],
    includeRequestAttemptCount: false,
    to: { routes: [] },
  });
}
