import type { IstioEgressListener } from '#generated/config/specs.ts';
import { deepEqual, sameItems } from '../base/equal.ts';
import { Interner } from '../base/intern.ts';
import type { Labels } from '../base/labels.ts';
import { WeakInterner } from '../base/weak-intern.ts';
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

/** Whose services are seen. Interned. */
interface EgressScope {
  readonly namespace: string;
  readonly sidecar: ProxyScope['sidecar'];
}

/** What the set of a proxy's outbound listeners depends on; proxies of a namespace share it. Interned. */
export interface PlanScope extends EgressScope {
  readonly view: Omit<PlanView, 'gateways'>;
}

/** An egress listener, with the keys of those VirtualServices that speak of connections. */
interface Egress {
  readonly listener: IstioEgressListener | undefined;
  readonly services: readonly Service[];
  readonly virtualServices: readonly ConfigKey[];
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

function sameEgress(a: Egress, b: Egress): boolean {
  return (
    deepEqual(a.listener, b.listener) &&
    sameItems(a.services, b.services) &&
    sameItems(a.virtualServices, b.virtualServices)
  );
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
  const egressScopes = new Interner<EgressScope>();
  const planScopes = new Interner<PlanScope>();
  const known = new WeakInterner<PlannedListener>();

  const egress = graph.derived<EgressScope, readonly Egress[]>(
    'listenerEgress',
    (scope) =>
      mesh.sidecarScope.get(scope).egress.map(({ listener, services, virtualServices }) => ({
        listener,
        services,
        virtualServices: virtualServices.filter(({ hasTls, hasTcp }) => hasTls || hasTcp).map(({ key }) => key),
      })),
    { equals: (a, b) => sameItems(a, b, sameEgress) },
  );
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

  /** Labels by which routes tell clients apart: proxies that differ in others share a plan. */
  const labelKeys = graph.derived<EgressScope, readonly string[]>(
    'l4SourceLabels',
    (scope) => {
      const matches = egress
        .get(scope)
        .flatMap(({ virtualServices }) => routesOf(virtualServices))
        .flatMap(({ tls, tcp }) => [...tls.flat(), ...tcp.flatMap((route) => (route === 'any' ? [] : route))]);
      return [...new Set(matches.flatMap(({ sourceLabels }) => Object.keys(sourceLabels ?? {})))].sort();
    },
    { equals: sameItems },
  );

  /** Key `namespace/host|port name`. */
  const endpointAddresses = graph.derived<string, readonly (readonly string[])[]>(
    'listenedEndpoints',
    (key) => {
      const at = key.lastIndexOf('|');
      const portName = key.slice(at + 1);
      return mesh.endpoints
        .get(key.slice(0, at))
        .filter((endpoint) => endpoint.servicePortName === portName)
        .map(({ addresses }) => addresses);
    },
    { equals: deepEqual },
  );

  const planned = (scope: PlanScope): ListenerPlan => {
    const { namespace, sidecar, view } = scope;
    const found = outboundPlan({
      view: { ...view, gateways: MESH_GATEWAY },
      egress: egress
        .get(egressScopes.intern({ namespace, sidecar }))
        .map(({ listener, services, virtualServices }) => ({
          ...(listener ? { listener } : {}),
          services,
          virtualServices: routesOf(virtualServices),
        })),
      endpointAddresses: (service, port) =>
        endpointAddresses.get(`${namespacedHost(service.namespace, service.hostname)}|${port.name}`),
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
    const { namespace, sidecar } = scope;
    const keys = labelKeys.get(egressScopes.intern({ namespace, sidecar }));
    const labels: Labels = Object.fromEntries(
      keys.flatMap((key) => (key in scope.labels ? [[key, scope.labels[key] ?? '']] : [])),
    );
    return planScopes.intern({
      namespace,
      sidecar,
      view: {
        labels,
        namespace,
        families: scope.ipFamilies,
        addresses: views.addressView(scope),
        bindsAll: scope.interceptionMode === 'NONE',
        limits: views.portLimits(scope),
        dnsDomain: scope.dnsDomain,
        http10: switches.http10,
        ...(ownAddress === undefined ? {} : { ownAddress }),
      },
    });
  };
  const scopeOf = graph.derived<ProxyScope, PlanScope>('listenerPlanScope', (scope) => {
    const shared = planScope(scope);
    const [ownAddress] = scope.ips;
    const own = ownAddress !== undefined && plan.get(shared).endpointAddresses.has(ownAddress);
    return own ? planScope(scope, ownAddress) : shared;
  });
  return { scopeOf, plan };
}
