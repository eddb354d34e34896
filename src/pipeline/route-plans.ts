import { cached } from '../base/cached.ts';
import { deepEqual, sameItems } from '../base/equal.ts';
import type { Hostname } from '../base/host.ts';
import type { ConfigKey } from '../config/config.ts';
import type { Collection, Derived, Graph } from '../derive/graph.ts';
import { admitsClient, type RouteClient } from '../envoy/routes/client-condition.ts';
import type { DestinationFacts } from '../envoy/routes/destination.ts';
import { hashPolicy, serviceHash } from '../envoy/routes/hash-policy.ts';
import {
  type PlannedVirtualHost,
  type RegisteredService,
  type Registry,
  registryOfPort,
  virtualHostPlan,
} from '../envoy/routes/virtual-host-plan.ts';
import type { VirtualServiceHead } from '../model/scope.ts';
import type { Service } from '../model/service.ts';
import { MESH_GATEWAY } from '../model/virtual-service.ts';
import type { HashClient, HashRules } from './route-hashes.ts';
import type { RouteHead, RouteHeads } from './route-heads.ts';
import type { PlanKey, RouteInputs } from './route-inputs.ts';
import type { RouteView } from './route-view.ts';
import { ServiceNames } from './service-names.ts';
import { type RoutesKey, routesKey, type VirtualHostKey, virtualHostKey } from './virtual-hosts.ts';

/** A virtual host of a plan. */
export interface PlanEntry {
  /** `host:port`. */
  readonly name: string;
  readonly domains: readonly string[];
  readonly key: VirtualHostKey;
}

/** What plans are made from. */
export interface RoutePlanSources {
  readonly inputs: RouteInputs;
  readonly heads: RouteHeads;
  readonly hashRules: Derived<HashClient, HashRules>;
  /** Whether listeners have the filter that keeps a client with one endpoint. */
  readonly persistentSessions: boolean;
}

interface PlanInputs {
  readonly listenPort: number;
  readonly services: readonly Service[];
  readonly virtualServices: readonly VirtualServiceHead[];
  readonly mostSpecific: ReadonlyMap<Hostname, ConfigKey>;
}

const GATEWAYS: ReadonlySet<string> = new Set([MESH_GATEWAY]);

/**
 * Which virtual hosts there are, under which names: what of a configuration depends on all its services at once. Only names
 * are made here; entries stay the same as long as names do.
 */
export function deriveRoutePlans(
  graph: Graph,
  { inputs, heads, hashRules, persistentSessions }: RoutePlanSources,
): Collection<RouteView, PlanKey, readonly PlanEntry[]> {
  const names = new ServiceNames();

  /** Namespaces that see the same services have the same list of them. */
  const registries = new WeakMap<readonly Service[], Map<number, Registry>>();
  const registryOf = (services: readonly Service[], listenPort: number): Registry => {
    const known = cached(registries, services, () => new Map<number, Registry>());
    return cached(known, listenPort, () => registryOfPort(services, listenPort));
  };

  const planInputs = graph.collection<RouteView, PlanKey, PlanInputs>('routePlanInputs', {
    items: (view) => inputs.planKeys.get(view),
    value: (key, view) => {
      const [at = 0, listenPort = 0] = key.split('|').map(Number);
      const listener = inputs.listeners.get(view)[at];
      if (listener === undefined) return undefined;
      const services = listenPort === 0 ? listener.services : (listener.servicesOfPort.get(listenPort) ?? []);
      return { ...listener, listenPort, services };
    },
    equals: (a, b) => sameItems(a.services, b.services, sameService) && sameItems(a.virtualServices, b.virtualServices),
  });

  return graph.collection<RouteView, PlanKey, readonly PlanEntry[]>('routePlan', {
    items: (view) => inputs.planKeys.get(view),
    value: (key, view) => {
      const input = planInputs.item(view, key);
      if (input === undefined) return undefined;
      const { listenPort, virtualServices, mostSpecific } = input;
      const { namespace, labels } = view;
      const client: RouteClient = { listenPort, gateways: GATEWAYS, namespace, labels };
      const registry = registryOf(input.services, listenPort);
      const planned = virtualHostPlan({
        listenPort,
        registry,
        virtualServices: virtualServices.filter(({ key: config }) =>
          heads.get(config)?.conditions.some((condition) => admitsClient(condition, client)),
        ),
        mostSpecific,
        clientNamespace: namespace,
        withPort: view.proxylessGrpc,
        domainsOf: names.domainsFor(view, listenPort),
      });
      const context = { view, listenPort, registry, hashes: hashRules.get(view), persistentSessions };
      const keys = new Map<ConfigKey, RoutesKey>();
      const routesOf = (config: ConfigKey): RoutesKey => {
        const known = keys.get(config) ?? routesKeyOf(config, heads.get(config), context);
        keys.set(config, known);
        return known;
      };
      return planned.map((host) => ({
        name: host.name,
        domains: host.domains,
        key: hostKey(host, routesOf, context, names),
      }));
    },
    equals: (a, b) => sameItems(a, b, (x, y) => x.key === y.key),
  });
}

/** Trimmed services are made anew whenever their scope is. */
function sameService(a: Service, b: Service): boolean {
  return a === b || (a.id === b.id && deepEqual(a, b));
}

/** What the keys of one plan's virtual hosts are made from. */
interface PlanContext {
  readonly view: RouteView;
  readonly listenPort: number;
  readonly registry: Registry;
  readonly hashes: HashRules;
  readonly persistentSessions: boolean;
}

function sessionOf(registered: RegisteredService | undefined, { persistentSessions }: PlanContext) {
  return persistentSessions ? registered?.service.persistentSession : undefined;
}

function routesKeyOf(virtualService: ConfigKey, head: RouteHead | undefined, context: PlanContext): RoutesKey {
  const { view, listenPort } = context;
  const asked = (head?.labelNames ?? []).filter((name) => name in view.labels);
  const destinations = (head?.destinations ?? []).flatMap((host) => {
    const facts = destinationFacts(host, context);
    return Object.keys(facts).length === 0 ? [] : [[host, facts] as const];
  });
  return routesKey({
    virtualService,
    listenPort,
    namespace: head?.asksNamespace ? view.namespace : '',
    labels: Object.fromEntries(asked.map((name) => [name, view.labels[name] ?? ''])),
    proxylessGrpc: view.proxylessGrpc,
    appendXForwardedHost: view.appendXForwardedHost,
    destinations,
  });
}

function destinationFacts(host: Hostname, context: PlanContext): DestinationFacts {
  const registered = context.registry.get(host);
  const externalName = registered?.service.externalName;
  const session = sessionOf(registered, context);
  const hashRule = context.hashes.get(host);
  const [port, ...others] = registered?.ports ?? [];
  // The only port of a service in the configuration of one port is that port.
  const onlyPort = context.listenPort === 0 && others.length === 0 ? port?.port : undefined;
  return {
    ...(externalName && { externalName }),
    ...(onlyPort !== undefined && { onlyPort }),
    ...(session && { session }),
    ...(hashRule && { hashRule }),
  };
}

/** The key for the names that a virtual host has; its text is made once for all clients that call it by the same names. */
function hostKey(
  { name, domains, port, virtualService, service }: PlannedVirtualHost,
  routesOf: (config: ConfigKey) => RoutesKey,
  context: PlanContext,
  names: ServiceNames,
): VirtualHostKey {
  const { includeRequestAttemptCount } = context.view;
  const common = { name, domains, includeRequestAttemptCount, session: sessionOf(service, context) };
  if (virtualService !== undefined) {
    const routes = routesOf(virtualService);
    const about = `${includeRequestAttemptCount}|${port}|${routes}`;
    return names.key(domains, about, () => virtualHostKey({ ...common, to: { routes: [routes] } }));
  }
  const hostname = service?.hostname ?? '';
  const rule = context.hashes.get(service?.service.hostname ?? '');
  const hash = rule && serviceHash(rule, port);
  const policy = hash && hashPolicy(hash);
  const about = `${includeRequestAttemptCount}|${port}|${policy === undefined ? '' : JSON.stringify(policy)}`;
  return names.key(domains, about, () =>
    virtualHostKey({ ...common, to: { service: { hostname, port, hashPolicy: policy } } }),
  );
}
