import type { Hostname } from '../base/host.ts';
import type { ConfigKey } from '../config/config.ts';
import type { DestinationFacts } from '../envoy/routes/destination.ts';
import { hashPolicy, serviceHash } from '../envoy/routes/hash-policy.ts';
import type { PlannedVirtualHost, RegisteredService, Registry } from '../envoy/routes/virtual-host-plan.ts';
import type { HashRules } from './route-hashes.ts';
import type { RouteHead, RouteHeads } from './route-heads.ts';
import type { RouteView } from './route-view.ts';
import type { ServiceNames } from './service-names.ts';
import { type RoutesKey, routesKey, type VirtualHostKey, virtualHostKey } from './virtual-hosts.ts';

/** A virtual host of a plan. */
export interface PlanEntry {
  /** `host:port`. */
  readonly name: string;
  readonly domains: readonly string[];
  readonly key: VirtualHostKey;
}

/** What the keys of one plan's virtual hosts are made from. */
export interface PlanContext {
  readonly view: RouteView;
  readonly listenPort: number;
  readonly registry: Registry;
  readonly hashes: HashRules;
  /** Whether listeners have the filter that keeps a client with one endpoint. */
  readonly persistentSessions: boolean;
  readonly heads: RouteHeads;
  readonly names: ServiceNames;
}

/** Makes the entries of one plan from its virtual hosts; what several hosts share of a VirtualService is made once. */
export function entryMaker(context: PlanContext): (host: PlannedVirtualHost) => PlanEntry {
  const keys = new Map<ConfigKey, RoutesKey>();
  const routesOf = (config: ConfigKey): RoutesKey => {
    const known = keys.get(config) ?? routesKeyOf(config, context.heads.get(config), context);
    keys.set(config, known);
    return known;
  };
  return (host) => ({ name: host.name, domains: host.domains, key: hostKey(host, routesOf, context) });
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
): VirtualHostKey {
  const { names } = context;
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
