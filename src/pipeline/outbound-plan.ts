import type { DestinationRule, TrafficPolicy } from '#generated/config/specs.ts';
import { cached } from '../base/cached.ts';
import { deepEqual, sameItems } from '../base/equal.ts';
import { type Hostname, hostsOverlap, isWildcardHost } from '../base/host.ts';
import { canonicalJson } from '../base/intern.ts';
import type { Labels } from '../base/labels.ts';
import { append } from '../base/multimap.ts';
import { ObjectNumbers, WeakInterner } from '../base/weak-intern.ts';
import type { Derived, Graph } from '../derive/graph.ts';
import { namesItsHost } from '../envoy/clusters/dynamic-dns.ts';
import { type Discovery, discoveryOf } from '../envoy/clusters/outbound.ts';
import type { ClusterView } from '../envoy/clusters/view.ts';
import { clusterName, sniClusterName } from '../envoy/names.ts';
import type { ConsolidatedDestinationRule } from '../model/destination-rule.ts';
import { OF_ROUTERS, type ProxyScope } from '../model/scope.ts';
import type { Service, ServicePort } from '../model/service.ts';
import { portTrafficPolicy, subsetTrafficPolicy } from '../model/traffic-policy.ts';
import { fullHostname } from '../model/virtual-service.ts';
import { type Mesh, ONE } from './mesh.ts';
import type { OutboundScope } from './outbound-scope.ts';

/** One cluster to be: a port of a service, or a subset of it, under the rule that applies. Interned, so it can be shared. */
export interface OutboundEntry {
  readonly name: string;
  /** The service's content is read by this, so that it is read only where it counts. */
  readonly serviceId: string;
  readonly port: ServicePort;
  /** Empty: the whole service. */
  readonly subset: string;
  readonly rule: ConsolidatedDestinationRule | undefined;
  readonly discovery: Discovery | 'DYNAMIC_DNS';
  /** Mutual TLS is passed on through it unopened. */
  readonly passesTls?: true;
}

/** All clusters to services, by name. Interned: namespaces that see the same have the same plan. */
export interface OutboundPlan {
  readonly entries: ReadonlyMap<string, OutboundEntry>;
}

export interface OutboundPlans {
  readonly of: Derived<OutboundScope, OutboundPlan>;
  /** That of a namespace which has and sees nothing of its own. */
  readonly ofEverybody: Derived<PlanKind, OutboundPlan>;
  /** What a proxy has under a cluster's name, from the service that it knows by the name's host. */
  entryOf(scope: Pick<ProxyScope, 'namespace' | 'labels'>, service: Service, name: string): OutboundEntry | undefined;
  /** A number for each entry, for keys. */
  readonly numbers: ObjectNumbers;
  /** Whether any DestinationRule is about a host. */
  readonly hasRule: Derived<'', (host: Hostname) => boolean>;
}

/** @see istio/istio pilot/pkg/networking/core/cluster.go `buildOutboundClusters` */
export function deriveOutboundPlan(graph: Graph, mesh: Mesh): OutboundPlans {
  const plans = new WeakInterner<OutboundPlan>();
  const lists = new WeakInterner<ServiceList>();
  const keys = new WeakInterner<PlanKey>();
  const serviceNumbers = new ObjectNumbers();
  const numbers = new ObjectNumbers();
  const entries = new Entries();

  /** Namespaces that see the same services share the list. */
  const known = new WeakMap<readonly Service[], ServiceList>();
  const listFor = (scope: Pick<ProxyScope, 'namespace' | 'sidecar'>): ServiceList => {
    const { services: seen } = mesh.sidecarScope.get(scope);
    return cached(known, seen, () =>
      lists.intern(serviceNumbers.ofAll(seen), () => ({ services: seen, byHost: Map.groupBy(seen, hostnameOf) })),
    );
  };
  const services = graph.derived<OutboundScope, ServiceList>('outboundServices', listFor);
  /** By namespace the hosts of rules that are in it or are meant for it: about all others it knows what everybody knows. */
  const hostsByNamespace = graph.derived<'', ReadonlyMap<string, readonly Hostname[]>>(
    'destinationRuleHostsByNamespace',
    () => {
      const hosts = new Map<string, Hostname[]>();
      for (const { spec, namespace } of mesh.ofKind<DestinationRule>('DestinationRule')) {
        const host = fullHostname(spec.host, namespace, mesh.options.domainSuffix);
        for (const of of new Set([namespace, ...(spec.exportTo ?? [])])) append(hosts, of, host);
      }
      return hosts;
    },
  );
  const hostsFor = graph.derived<string, readonly Hostname[]>(
    'destinationRuleHostsOf',
    (namespace) => hostsByNamespace.get(ONE).get(namespace) ?? [],
    { equals: sameItems },
  );
  const ruledHosts = graph.derived<'', readonly Hostname[]>(
    'destinationRuleHosts',
    () => {
      const { domainSuffix } = mesh.options;
      const rules = mesh.ofKind<DestinationRule>('DestinationRule');
      return [...new Set(rules.map(({ spec, namespace }) => fullHostname(spec.host, namespace, domainSuffix)))].sort();
    },
    { equals: deepEqual },
  );
  /** Whether any rule is about a host, so that most services need not ask which of them applies. */
  const hasRule = graph.derived<'', (host: Hostname) => boolean>('isHostRuled', () => {
    const hosts = ruledHosts.get(ONE);
    const exact = new Set(hosts);
    const wildcards = hosts.filter(isWildcardHost);
    return (host) => exact.has(host) || wildcards.some((wildcard) => hostsOverlap(wildcard, host));
  });

  const planOf = ({ list, labels, type, passesTls }: PlanKey, namespaceFor: (service: Service) => string) => {
    const ruled = hasRule.get(ONE);
    const found = new Map<string, OutboundEntry>();
    for (const service of list.services) {
      const rule = ruled(service.hostname)
        ? mesh.destinationRule({ namespace: namespaceFor(service), labels }, service, 'outbound')
        : undefined;
      for (const entry of entries.all(service, rule, { type, passesTls })) {
        if (!found.has(entry.name)) found.set(entry.name, entry);
      }
    }
    return plans.intern(numbers.ofAll([...found.values()]), () => ({ entries: found }));
  };
  /** Where a namespace has rules, only the services that these are about are looked at, and most often nothing is different. */
  const planned: Derived<PlanKey, OutboundPlan> = graph.derived<PlanKey, OutboundPlan>('outboundPlan', (key) => {
    const { list, namespace, labels } = key;
    if (namespace === ANY_NAMESPACE) return planOf(key, () => ANY_NAMESPACE);
    const base = planned.get(planKey({ ...key, namespace: ANY_NAMESPACE, labels: NO_LABELS }));
    const about = servicesAbout(list, hostsFor.get(namespace));
    const isSame = (service: Service) => {
      const rule = mesh.destinationRule({ namespace, labels }, service, 'outbound');
      const others = mesh.destinationRule({ namespace: ANY_NAMESPACE, labels: NO_LABELS }, service, 'outbound');
      const [own, shared] = [entries.all(service, rule, key), entries.all(service, others, key)];
      return sameItems(own, shared);
    };
    if ([...about].every(isSame)) return base;
    return planOf(key, (service) => (about.has(service) ? namespace : ANY_NAMESPACE));
  });
  const planKey = (key: PlanKey): PlanKey => {
    const { list, namespace, labels, type, passesTls } = key;
    const id = `${serviceNumbers.of(list)}~${namespace}~${canonicalJson(labels)}~${type}~${passesTls}`;
    return keys.intern(id, () => ({ list, namespace, labels, type, passesTls }));
  };
  const of = graph.derived<OutboundScope, OutboundPlan>('outboundPlanOf', (scope) => {
    const { labels, view, passesTls = false } = scope;
    const namespace = hostsFor.get(scope.namespace).length > 0 ? scope.namespace : ANY_NAMESPACE;
    return planned.get(planKey({ list: services.get(scope), namespace, labels, type: view.type, passesTls }));
  });
  const ofEverybody = graph.derived<PlanKind, OutboundPlan>('sharedOutboundPlan', (kind) => {
    const list = listFor({ namespace: '', sidecar: kind.type === 'sidecar' ? '' : OF_ROUTERS });
    return planned.get(planKey({ ...kind, list, namespace: ANY_NAMESPACE, labels: NO_LABELS }));
  });
  const entryOf: OutboundPlans['entryOf'] = (scope, service, name) => {
    const rule = hasRule.get(ONE)(service.hostname) ? mesh.destinationRule(scope, service, 'outbound') : undefined;
    return entries.of(service, rule, 'sidecar').find((entry) => entry.name === name);
  };
  return { of, ofEverybody, entryOf, numbers, hasRule };
}

interface ServiceList {
  readonly services: readonly Service[];
  readonly byHost: ReadonlyMap<Hostname, readonly Service[]>;
}

function hostnameOf({ hostname }: Service): Hostname {
  return hostname;
}

/** The services whose hosts are among some, or match a wildcard among them. */
function servicesAbout({ services, byHost }: ServiceList, hosts: readonly Hostname[]): ReadonlySet<Service> {
  const wildcards = hosts.filter(isWildcardHost);
  const overlapping =
    wildcards.length === 0 ? [] : services.filter((s) => wildcards.some((w) => hostsOverlap(w, s.hostname)));
  return new Set([...overlapping, ...hosts.flatMap((host) => byHost.get(host) ?? [])]);
}

/** What for plans are. As a key it is one object for each. */
export interface PlanKind {
  readonly type: ClusterView['type'];
  readonly passesTls: boolean;
}

/** What a plan depends on. Interned. */
interface PlanKey extends PlanKind {
  readonly list: ServiceList;
  readonly namespace: string;
  readonly labels: Labels;
}

/** Stands for all namespaces that no rule is meant for: it is no namespace's name. */
const ANY_NAMESPACE = '~';

const NO_LABELS: Labels = {};

type EntriesByType = Map<ClusterView['type'], readonly OutboundEntry[]>;
type EntriesByRule = WeakMap<object, EntriesByType>;

const NO_RULE = {};

/** Entries by what they are made from. */
class Entries {
  readonly #sameRules = new WeakInterner<ConsolidatedDestinationRule>();
  readonly #sameRule = new WeakMap<ConsolidatedDestinationRule, ConsolidatedDestinationRule>();
  readonly #interned = new WeakInterner<OutboundEntry>();
  readonly #rules = new ObjectNumbers();
  readonly #known = new WeakMap<Service, EntriesByRule>();
  readonly #passing = new WeakMap<OutboundEntry, OutboundEntry>();

  all(
    service: Service,
    rule: ConsolidatedDestinationRule | undefined,
    { type, passesTls }: PlanKind,
  ): readonly OutboundEntry[] {
    const own = this.of(service, rule, type);
    return passesTls ? [...own, ...this.passing(service, rule, type)] : own;
  }

  of(
    service: Service,
    rule: ConsolidatedDestinationRule | undefined,
    type: ClusterView['type'],
  ): readonly OutboundEntry[] {
    if (service.resolution === 'Alias') return [];
    const same = rule && this.#content(rule);
    const byRule = cached(this.#known, service, (): EntriesByRule => new WeakMap());
    const byType = cached(byRule, same ?? NO_RULE, (): EntriesByType => new Map());
    return cached(byType, type, () => this.#make(service, same, type));
  }

  /** The same for what a gateway passes on unopened: to services of the mesh alone, even by their other names. */
  passing(
    service: Service,
    rule: ConsolidatedDestinationRule | undefined,
    type: ClusterView['type'],
  ): readonly OutboundEntry[] {
    if (service.meshExternal || isDynamic(service)) return [];
    const opened =
      service.resolution === 'Alias'
        ? this.#make(service, rule && this.#content(rule), type)
        : this.of(service, rule, type);
    return opened.map((entry) =>
      cached(this.#passing, entry, () => {
        const name = sniClusterName(entry.port.port, entry.subset, service.hostname);
        return { ...entry, name, passesTls: true };
      }),
    );
  }

  /** A rule comes from several indexes, in each as another object. */
  #content(rule: ConsolidatedDestinationRule): ConsolidatedDestinationRule {
    return cached(this.#sameRule, rule, () =>
      this.#sameRules.intern(`${rule.from.join()} ${canonicalJson(rule.rule.spec)}`, () => rule),
    );
  }

  #make(
    service: Service,
    rule: ConsolidatedDestinationRule | undefined,
    type: ClusterView['type'],
  ): readonly OutboundEntry[] {
    const main = isDynamic(service) ? 'DYNAMIC_DNS' : discoveryOf(service, type);
    const { hostname, id: serviceId } = service;
    return service.ports
      .filter((port) => isCluster(service, port))
      .flatMap((port) =>
        subsets(rule, port, main).map(({ subset, discovery }) => {
          const { name, port: number, protocol } = port;
          const key = `${serviceId}|${number}|${name}|${protocol}|${subset}|${this.#rules.of(rule)}|${discovery}`;
          return this.#interned.intern(key, () => {
            return {
              name: clusterName('outbound', number, subset, hostname),
              serviceId,
              port,
              subset,
              rule,
              discovery,
            };
          });
        }),
      );
  }
}

function isDynamic({ hostname, resolution }: Service): boolean {
  return resolution === 'DynamicDNS' && isWildcardHost(hostname);
}

function isCluster(service: Service, { protocol }: ServicePort): boolean {
  if (protocol === 'UDP') return false;
  return !isDynamic(service) || namesItsHost(protocol);
}

interface PlannedSubset {
  readonly subset: string;
  readonly discovery: OutboundEntry['discovery'];
}

/** The whole service, then its subsets. Traffic that is passed through on the whole is passed through in every subset. */
function subsets(
  rule: ConsolidatedDestinationRule | undefined,
  { port }: ServicePort,
  discovery: OutboundEntry['discovery'],
): readonly PlannedSubset[] {
  if (rule === undefined || discovery === 'DYNAMIC_DNS') return [{ subset: '', discovery }];
  const { trafficPolicy, subsets: named = [] } = rule.rule.spec;
  const passed = isPassthrough(portTrafficPolicy(trafficPolicy, port));
  return [
    { subset: '', discovery: passed && discovery === 'EDS' ? 'ORIGINAL_DST' : discovery },
    ...named.map(({ name, trafficPolicy: own }): PlannedSubset => {
      const merged = discovery === 'EDS' && isPassthrough(subsetTrafficPolicy(trafficPolicy, own, port));
      return { subset: name, discovery: passed || isPassthrough(own) || merged ? 'ORIGINAL_DST' : discovery };
    }),
  ];
}

function isPassthrough(policy: TrafficPolicy | undefined): boolean {
  return policy?.loadBalancer?.simple === 'PASSTHROUGH';
}
