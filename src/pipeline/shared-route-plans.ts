import { cached } from '../base/cached.ts';
import { contentVersion } from '../base/hash.ts';
import type { Hostname } from '../base/host.ts';
import { canonicalJson } from '../base/intern.ts';
import { append } from '../base/multimap.ts';
import { ObjectNumbers, WeakInterner } from '../base/weak-intern.ts';
import type { ConfigKey } from '../config/config.ts';
import type { Graph } from '../derive/graph.ts';
import { admitsClient, type RouteClient } from '../envoy/routes/client-condition.ts';
import { clientDomain } from '../envoy/routes/domains.ts';
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
import type { HashRules } from './route-hashes.ts';
import type { RouteHeads } from './route-heads.ts';
import { entryMaker, type PlanEntry } from './route-plan.ts';
import type { RoutePlan } from './route-plans.ts';
import type { RouteView } from './route-view.ts';
import { ServiceNames } from './service-names.ts';

/** What the virtual hosts of a port are made from. */
export interface PlanSubject {
  readonly listenPort: number;
  readonly services: readonly Service[];
  readonly virtualServices: readonly VirtualServiceHead[];
  readonly mostSpecific: ReadonlyMap<Hostname, ConfigKey>;
  readonly hashes: HashRules;
}

/** All that a plan depends on beside the heads of its VirtualServices. Interned: namespaces that see the same have the same. */
interface SharedPlanKey extends PlanSubject {
  /** Of a client in no namespace in particular, unless something asks for the namespace. */
  readonly view: RouteView;
}

export type SharedEntries = readonly PlanEntry[];

/** A plan as all namespaces have it but for names that are short in one of them. */
interface SharedPlan {
  /** Interned: equal ones are one object, whatever they were made from. */
  readonly entries: SharedEntries;
  readonly hosts: readonly PlannedVirtualHost[];
  /** Place by name of the virtual host. */
  readonly places: ReadonlyMap<string, number>;
  /** Names that are not free. */
  readonly taken: ReadonlySet<string>;
  /** Services that clients of a domain call by shorter names than others do. */
  readonly shorter: ReadonlyMap<string, readonly RegisteredService[]>;
}

const GATEWAYS: ReadonlySet<string> = new Set([MESH_GATEWAY]);

/**
 * A new service is a new plan. It is made once for all namespaces that see it, and each of them then looks only at the
 * services of its own, which have one name more there: `reviews` beside `reviews.default`.
 */
export function deriveSharedRoutePlans(
  graph: Graph,
  { heads, persistentSessions }: { readonly heads: RouteHeads; readonly persistentSessions: boolean },
): (view: RouteView, subject: PlanSubject) => RoutePlan {
  const lists = new WeakInterner<SharedEntries>();
  const names = new ServiceNames();
  const keys = new WeakInterner<SharedPlanKey>();
  const views = new WeakInterner<RouteView>();
  const numbers = new ObjectNumbers();

  /** Namespaces that see the same services have the same list of them. */
  const registries = new WeakMap<readonly Service[], Map<number, Registry>>();
  const registryOf = ({ services, listenPort }: PlanSubject): Registry => {
    const known = cached(registries, services, () => new Map<number, Registry>());
    return cached(known, listenPort, () => registryOfPort(services, listenPort));
  };
  const contextOf = (view: RouteView, subject: PlanSubject) => {
    const { listenPort, hashes } = subject;
    return { view, listenPort, registry: registryOf(subject), hashes, persistentSessions, heads, names };
  };

  const plan = graph.derived<SharedPlanKey, SharedPlan>('sharedRoutePlan', (key) => {
    const { view, listenPort, virtualServices, mostSpecific } = key;
    const { namespace, labels } = view;
    const client: RouteClient = { listenPort, gateways: GATEWAYS, namespace, labels };
    const context = contextOf(view, key);
    const { hosts, taken } = virtualHostPlan({
      listenPort,
      registry: context.registry,
      virtualServices: virtualServices.filter(({ key: config }) =>
        heads.get(config)?.conditions.some((condition) => admitsClient(condition, client)),
      ),
      mostSpecific,
      clientNamespace: namespace,
      withPort: view.proxylessGrpc,
      domainsOf: names.domainsFor(view, listenPort),
    });
    const shorter = new Map<string, RegisteredService[]>();
    for (const registered of context.registry.values()) {
      for (const domain of shorterIn(registered)) append(shorter, domain, registered);
    }
    const places = new Map(hosts.map(({ name }, place) => [name, place]));
    const made = hosts.map(entryMaker(context));
    const entries = lists.intern(contentVersion(made.map((entry) => entry.key).join('\n')), () => made);
    return { entries, hosts, places, taken, shorter };
  });

  const keyFor = (view: RouteView, subject: PlanSubject, inNamespace: boolean): SharedPlanKey => {
    const { listenPort, services, virtualServices, hashes } = subject;
    const dnsDomain = inNamespace ? view.dnsDomain : (clientDomain(view.dnsDomain).suffix ?? view.dnsDomain);
    const namespace = inNamespace || asksNamespace(virtualServices) ? view.namespace : '';
    const client = { ...view, dnsDomain, namespace, sidecar: '' } as const;
    const shared = views.intern(canonicalJson(client), () => client);
    const id = [
      listenPort,
      numbers.of(services),
      numbers.ofAll(virtualServices),
      numbers.of(hashes),
      numbers.of(shared),
    ];
    return keys.intern(id.join('~'), () => ({ ...subject, view: shared }));
  };

  /** The places of entries that have more names in the namespace, with them; undefined where that changes other entries. */
  const ownEntries = (view: RouteView, subject: PlanSubject, made: SharedPlan): Map<number, PlanEntry> | undefined => {
    const own = new Map<number, PlanEntry>();
    const services = made.shorter.get(view.dnsDomain) ?? [];
    if (services.length === 0) return own;
    const claimed = new Set<string>();
    const domainsOf = names.domainsFor(view, subject.listenPort);
    const entryOf = entryMaker(contextOf(view, subject));
    for (const registered of services) {
      const place = made.places.get(`${registered.hostname}:${subject.listenPort}`);
      const host = place === undefined ? undefined : made.hosts[place];
      if (place === undefined || host === undefined) {
        // It has no virtual host, unless all its names were taken: here it has one more.
        if (made.taken.has(registered.hostname)) return undefined;
        continue;
      }
      const { all, folded } = domainsOf(registered, subject.listenPort);
      const shared = new Set(host.domains);
      for (const [i, domain] of all.entries()) {
        if (shared.has(domain)) continue;
        const name = folded[i] ?? domain;
        if (made.taken.has(name) || made.taken.has(domain) || claimed.has(name)) return undefined;
        claimed.add(name);
      }
      own.set(place, entryOf({ ...host, domains: all }));
    }
    return own;
  };

  return (view, subject) => {
    // With names for each port the short ones may be those of another port's virtual host.
    const alone = subject.listenPort === 0 || view.proxylessGrpc || !view.dnsDomain.includes('.svc.');
    const made = alone ? undefined : plan.get(keyFor(view, subject, false));
    const own = made && ownEntries(view, subject, made);
    if (made === undefined || own === undefined) {
      return { shared: plan.get(keyFor(view, subject, true)).entries, own: NO_ENTRIES };
    }
    return { shared: made.entries, own };
  };
}

const NO_ENTRIES: ReadonlyMap<number, PlanEntry> = new Map();

function asksNamespace(virtualServices: readonly VirtualServiceHead[]): boolean {
  return virtualServices.some(({ gatewaySemantics, hasSourceNamespace }) => gatewaySemantics || hasSourceNamespace);
}

/** The domains whose clients call a service by its first label alone. */
function shorterIn({ hostname, service }: RegisteredService): readonly string[] {
  const hosts = [hostname, ...service.aliases.map((alias) => alias.hostname)];
  return [
    ...new Set(hosts.map((host) => host.slice(host.indexOf('.') + 1)).filter((domain) => domain.includes('.svc.'))),
  ];
}
