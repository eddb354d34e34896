import type { IstioEgressListener } from '#generated/config/specs.ts';
import { deepEqual, sameItems } from '../base/equal.ts';
import { canonicalJson } from '../base/intern.ts';
import type { Labels } from '../base/labels.ts';
import { ObjectNumbers, WeakInterner } from '../base/weak-intern.ts';
import type { ConfigKey } from '../config/config.ts';
import type { Derived, Graph } from '../derive/graph.ts';
import { type L4Routes, l4Routes } from '../envoy/listeners/l4-routes.ts';
import type { PlannedListener } from '../envoy/listeners/outbound-listeners.ts';
import { outboundPlan } from '../envoy/listeners/outbound-plan.ts';
import type { PlanView } from '../envoy/listeners/plan-view.ts';
import type { ListenerSwitches } from '../envoy/listeners/switches.ts';
import type { ProxyScope } from '../model/scope.ts';
import type { Service } from '../model/service.ts';
import type { ListenerViews } from './listener-views.ts';
import { type Mesh, namespacedHost } from './mesh.ts';

/** An egress listener, with the keys of those VirtualServices that speak of connections. */
interface Egress {
  readonly listener: IstioEgressListener | undefined;
  readonly services: readonly Service[];
  readonly virtualServices: readonly ConfigKey[];
}

/** Egress listeners with what they import. Interned: namespaces that see the same have the same. */
interface EgressList {
  readonly listeners: readonly Egress[];
}

/** What the set of a proxy's outbound listeners depends on. Interned. */
export interface PlanScope {
  readonly egress: EgressList;
  readonly view: Omit<PlanView, 'gateways'>;
}

/** Listeners by name, in order; each the same object for as long as it has the same content. */
export type PlannedListeners = ReadonlyMap<string, PlannedListener>;

export interface ListenerPlan {
  /** Those that only pass connections on. */
  readonly tcp: PlannedListeners;
  /** Those with a filter chain for HTTP. */
  readonly http: PlannedListeners;
  readonly endpointAddresses: ReadonlySet<string>;
}

export interface OutboundListenerPlans {
  readonly scopeOf: Derived<ProxyScope, PlanScope>;
  readonly plan: Derived<PlanScope, ListenerPlan>;
}

const MESH_GATEWAY: ReadonlySet<string> = new Set(['mesh']);

/** What of a proxy decides which routes are for it; proxies that differ in all else share a plan. */
interface ClientConditions {
  /** Labels that some match names. */
  readonly labels: readonly string[];
  /** Some match names a namespace. */
  readonly namespace: boolean;
  /** Some service has other names, which are shortened for clients of its domain. */
  readonly dnsDomain: boolean;
}

function sameListeners(a: PlannedListeners, b: PlannedListeners): boolean {
  return sameItems([...a.keys()], [...b.keys()]) && sameItems([...a.values()], [...b.values()]);
}

function samePlan(a: ListenerPlan, b: ListenerPlan): boolean {
  const addresses = (plan: ListenerPlan) => [...plan.endpointAddresses].sort();
  return sameListeners(a.tcp, b.tcp) && sameListeners(a.http, b.http) && sameItems(addresses(a), addresses(b));
}

function speaksHttp({ chains }: PlannedListener): boolean {
  return chains.some(({ kind }) => kind === 'http');
}

/** Which outbound listeners a proxy has, and which filter chains they have: everything but where those lead. */
export function deriveOutboundListenerPlan(
  graph: Graph,
  mesh: Mesh,
  views: ListenerViews,
  switches: ListenerSwitches,
): OutboundListenerPlans {
  const lists = new WeakInterner<EgressList>();
  const planScopes = new WeakInterner<PlanScope>();
  const known = new WeakInterner<PlannedListener>();
  const numbers = new ObjectNumbers();

  /** Key `namespace|sidecar`. */
  const egressLists = graph.derived<string, EgressList>('listenerEgress', (key) => {
    const [namespace = '', sidecar = ''] = key.split('|');
    const listeners = mesh.sidecarScope.get({ namespace, sidecar }).egress.map(
      ({ listener, services, virtualServices }): Egress => ({
        listener,
        services,
        virtualServices: virtualServices.filter(({ hasTls, hasTcp }) => hasTls || hasTcp).map(({ key }) => key),
      }),
    );
    const content = listeners.map(
      ({ listener, services, virtualServices }) =>
        `${listener ? canonicalJson(listener) : ''}~${numbers.ofAll(services)}~${virtualServices.join()}`,
    );
    return lists.intern(content.join('\n'), () => ({ listeners }));
  });
  /** Without destinations, so that a changed weight is no change here. */
  const routes = graph.derived<ConfigKey, L4Routes | undefined>(
    'l4Routes',
    (key) => {
      const virtualService = mesh.virtualService.get(key);
      return virtualService && l4Routes(virtualService);
    },
    { equals: deepEqual },
  );
  const routesOf = (keys: readonly ConfigKey[]) => keys.flatMap((key) => routes.get(key) ?? []);

  const conditions = graph.derived<EgressList, ClientConditions>(
    'l4ClientConditions',
    ({ listeners }) => {
      const matches = listeners
        .flatMap(({ virtualServices }) => routesOf(virtualServices))
        .flatMap(({ tls, tcp }) => [...tls.flat(), ...tcp.flatMap((route) => (route === 'any' ? [] : route))]);
      return {
        labels: [...new Set(matches.flatMap(({ sourceLabels }) => Object.keys(sourceLabels ?? {})))].sort(),
        namespace: matches.some(({ sourceNamespace }) => sourceNamespace),
        dnsDomain: listeners.some(({ services }) => services.some(({ aliases }) => aliases.length > 0)),
      };
    },
    { equals: deepEqual },
  );

  /** Key `namespace/host|port`. Of several objects with the host those count that have the port's number, whatever its name. */
  const endpointAddresses = graph.derived<string, readonly (readonly string[])[]>(
    'listenedEndpoints',
    (key) => {
      const at = key.lastIndexOf('|');
      const port = Number(key.slice(at + 1));
      return mesh.endpoints
        .get(key.slice(0, at))
        .filter((endpoint) => endpoint.servicePort === port)
        .map(({ addresses }) => addresses);
    },
    { equals: deepEqual },
  );

  const planned = (scope: PlanScope): ListenerPlan => {
    const { egress, view } = scope;
    const found = outboundPlan({
      view: { ...view, gateways: MESH_GATEWAY },
      egress: egress.listeners.map(({ listener, services, virtualServices }) => ({
        ...(listener ? { listener } : {}),
        services,
        virtualServices: routesOf(virtualServices),
      })),
      endpointAddresses: (service, port) =>
        endpointAddresses.get(`${namespacedHost(service.namespace, service.hostname)}|${port.port}`),
    });
    const tcp = new Map<string, PlannedListener>();
    const http = new Map<string, PlannedListener>();
    for (const name of [...found.listeners.keys()].sort()) {
      const listener = found.listeners.get(name);
      if (listener === undefined) continue;
      const kept = known.intern(JSON.stringify(listener), () => listener);
      (speaksHttp(kept) ? http : tcp).set(name, kept);
    }
    return { tcp, http, endpointAddresses: found.endpointAddresses };
  };
  const plan = graph.derived<PlanScope, ListenerPlan>('outboundListenerPlan', planned, { equals: samePlan });

  const planScope = (scope: ProxyScope, ownAddress?: string): PlanScope => {
    const egress = egressLists.get(`${scope.namespace}|${scope.sidecar}`);
    const asked = conditions.get(egress);
    const labels: Labels = Object.fromEntries(
      asked.labels.flatMap((key) => (key in scope.labels ? [[key, scope.labels[key] ?? '']] : [])),
    );
    const view: PlanScope['view'] = {
      labels,
      namespace: asked.namespace ? scope.namespace : '',
      families: scope.ipFamilies,
      addresses: views.addressView(scope),
      bindsAll: scope.interceptionMode === 'NONE',
      limits: views.portLimits(scope),
      dnsDomain: asked.dnsDomain ? scope.dnsDomain : '',
      http10: switches.http10,
      ...(ownAddress === undefined ? {} : { ownAddress }),
    };
    return planScopes.intern(`${numbers.of(egress)}~${canonicalJson(view)}`, () => ({ egress, view }));
  };
  const scopeOf = graph.derived<ProxyScope, PlanScope>('listenerPlanScope', (scope) => {
    const shared = planScope(scope);
    const [ownAddress] = scope.ips;
    const own = ownAddress !== undefined && plan.get(shared).endpointAddresses.has(ownAddress);
    return own ? planScope(scope, ownAddress) : shared;
  });
  return { scopeOf, plan };
}
