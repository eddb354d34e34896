import type { DestinationRule } from '#generated/config/specs.ts';
import { type Hostname, isWildcardHost } from '../base/host.ts';
import { Interner } from '../base/intern.ts';
import type { Labels } from '../base/labels.ts';
import { ObjectNumbers, WeakInterner } from '../base/weak-intern.ts';
import type { Collection, Derived, Graph } from '../derive/graph.ts';
import { type HttpChain, type OutboundListener, outboundListener, type TcpChain } from '../envoy/listeners/outbound.ts';
import type { PlannedListener, TcpChainPlan } from '../envoy/listeners/outbound-listeners.ts';
import { routeDestination, serviceDestination } from '../envoy/listeners/tcp-destination.ts';
import type { ProxyScope } from '../model/scope.ts';
import type { Service } from '../model/service.ts';
import type { EncodedResource } from '../proto/resource-set.ts';
import { encodedResource, sameVersion } from './encoded-resource.ts';
import type { ListenerFacets } from './listener-facets.ts';
import type { HttpView, ListenerViews, TcpView } from './listener-views.ts';
import { type Mesh, ONE } from './mesh.ts';
import type { Outbound } from './outbound.ts';
import type { OutboundListenerPlans, PlannedListeners, PlanScope } from './outbound-listener-plan.ts';

export const LISTENER = 'envoy.config.listener.v3.Listener';

/** From where destinations are looked at: their services and the DestinationRules that hold. Interned. */
interface RouteScope {
  readonly namespace: string;
  readonly sidecar: ProxyScope['sidecar'];
  /** Those by which DestinationRules of the namespace select workloads. */
  readonly labels: Labels;
}

/** A planned listener whose destinations are to be looked up. Interned. */
interface ResolveKey {
  readonly planned: PlannedListener;
  readonly routes: RouteScope;
}

/** A listener as proxies of one view have it. Interned. */
interface ListenerKey {
  readonly listener: OutboundListener;
  readonly tcp: TcpView;
  /** Absent where HTTP is not spoken. */
  readonly http: HttpView | undefined;
}

/** All listeners of one kind that proxies of a namespace, or of a workload, share. Interned. */
interface SetKey {
  readonly plan: PlanScope;
  readonly routes: RouteScope;
  readonly tcp: TcpView;
  readonly http: HttpView | undefined;
}

/** A set of listeners, and the key under which a proxy has it. */
export interface ListenerSet {
  readonly listeners: Collection<SetKey, string, EncodedResource>;
  readonly keyOf: Derived<ProxyScope, SetKey>;
}

export interface OutboundListeners {
  /** Disjoint, widest first. */
  readonly sets: readonly ListenerSet[];
  /** A listener that needs no looking up. */
  translated(listener: OutboundListener, tcp: TcpView, http: HttpView | undefined): EncodedResource;
}

/** From where destinations are looked at that are the same for everybody. */
const EVERYBODY: RouteScope = { namespace: '', sidecar: '', labels: {} };

/** Listeners that only pass connections on, and say nothing of the workload. */
interface TcpListeners {
  /** No rule and no route is about their services: they are the same for every namespace. */
  readonly plain: PlannedListeners;
  readonly ruled: PlannedListeners;
}

function isPlain({ chains }: PlannedListener, isRuled: (host: Hostname) => boolean): boolean {
  return chains.every((chain) => chain.kind === 'tcp' && 'serviceId' in chain.to && !isRuled(chain.to.host));
}

/** Listeners for the services that workloads call. */
export function deriveOutboundListeners(
  graph: Graph,
  mesh: Mesh,
  outbound: Outbound,
  plans: OutboundListenerPlans,
  views: ListenerViews,
  facets: ListenerFacets,
): OutboundListeners {
  const numbers = new ObjectNumbers();
  const routeScopes = new Interner<RouteScope>();
  const resolveKeys = new WeakInterner<ResolveKey>();
  const resolvedListeners = new WeakInterner<OutboundListener>();
  const listenerKeys = new WeakInterner<ListenerKey>();
  const setKeys = new WeakInterner<SetKey>();

  const ruleOf = (routes: RouteScope, service: Service | undefined): DestinationRule | undefined =>
    service && mesh.destinationRule(routes, service, 'outbound')?.rule.spec;

  const tcpChain = (chain: TcpChainPlan, routes: RouteScope): readonly TcpChain[] => {
    const { match, to, path, port } = chain;
    const statPattern = mesh.facet('outboundClusterStatName') ?? '';
    const common = { match, protocol: port.protocol, ...(path === undefined ? {} : { path }) };
    if ('serviceId' in to) {
      const service = mesh.serviceById.get(to.serviceId);
      if (service === undefined) return [];
      const dynamic = isWildcardHost(service.hostname) && service.resolution === 'DynamicDNS';
      const tcp = serviceDestination({ service, port: to.port, rule: ruleOf(routes, service), statPattern });
      return [{ ...common, tcp, ...(dynamic ? { dynamicHost: { host: service.hostname, port: port.port } } : {}) }];
    }
    const virtualService = mesh.virtualService.get(to.virtualService);
    const route = virtualService?.spec[to.block]?.[to.index]?.route ?? [];
    const [first] = route;
    if (virtualService === undefined || first === undefined) return [];
    const serviceOf = (host: string) => outbound.knownService(routes, host);
    const rule = ruleOf(routes, serviceOf(first.destination.host));
    return [{ ...common, tcp: routeDestination({ route, virtualService, port, serviceOf, rule, statPattern }) }];
  };
  const resolved: Derived<ResolveKey, OutboundListener> = graph.derived('resolvedListener', ({ planned, routes }) => {
    const { name, binds, port, toPort } = planned;
    const chains = planned.chains.flatMap((chain): readonly (HttpChain | TcpChain)[] => {
      if (chain.kind === 'tcp') return tcpChain(chain, routes);
      const { match, kind: _kind, ...http } = chain;
      return [{ match, http }];
    });
    const listener = { name, binds, port, toPort, chains };
    return resolvedListeners.intern(JSON.stringify(listener), () => listener);
  });

  const listeners: Derived<ListenerKey, EncodedResource> = graph.derived(
    'outboundListener',
    ({ listener, tcp, http }) =>
      encodedResource(
        LISTENER,
        listener.name,
        outboundListener({
          listener,
          unknownTraffic: tcp.unknownTraffic,
          exactBalance: tcp.exactBalance,
          detectionTimeout: facets.detectionTimeout(),
          tcp: facets.tcpSettings(tcp, 'outbound'),
          http: http && facets.httpSettings(tcp, http, 'outbound'),
        }),
      ),
    { equals: sameVersion },
  );
  const translated = (listener: OutboundListener, tcp: TcpView, http: HttpView | undefined): EncodedResource => {
    const id = `${numbers.of(listener)}~${numbers.of(tcp)}~${numbers.of(http)}`;
    return listeners.get(listenerKeys.intern(id, () => ({ listener, tcp, http })));
  };
  const ofSet = (planned: PlannedListener, { routes, tcp, http }: SetKey): EncodedResource => {
    const id = `${numbers.of(planned)}~${numbers.of(routes)}`;
    return translated(resolved.get(resolveKeys.intern(id, () => ({ planned, routes }))), tcp, http);
  };

  const tcpListeners = graph.derived<PlanScope, TcpListeners>('tcpListenersOf', (scope) => {
    const isRuled = outbound.hasRule.get(ONE);
    const plain = new Map<string, PlannedListener>();
    const ruled = new Map<string, PlannedListener>();
    for (const [name, planned] of plans.plan.get(scope).tcp)
      (isPlain(planned, isRuled) ? plain : ruled).set(name, planned);
    return { plain, ruled };
  });
  const setKey = (scope: ProxyScope, routes: RouteScope, http: HttpView | undefined): SetKey => {
    const plan = plans.scopeOf.get(scope);
    const tcp = views.tcp.get(scope);
    const id = `${numbers.of(plan)}~${numbers.of(routes)}~${numbers.of(tcp)}~${numbers.of(http)}`;
    return setKeys.intern(id, () => ({ plan, routes, tcp, http }));
  };
  const routesOf = (scope: ProxyScope): RouteScope => {
    const { namespace, sidecar } = scope;
    return routeScopes.intern({ namespace, sidecar, labels: outbound.scopeOf.get(scope)?.labels ?? {} });
  };
  const set = (
    name: string,
    parts: (key: SetKey) => PlannedListeners,
    keyOf: (scope: ProxyScope) => SetKey,
  ): ListenerSet => ({
    listeners: graph.collectionOfParts<SetKey, string, PlannedListener, EncodedResource>(name, {
      parts,
      value: (_name, planned, key) => ofSet(planned, key),
      equals: sameVersion,
    }),
    keyOf: graph.derived(`${name}Key`, keyOf),
  });
  return {
    sets: [
      set(
        'plainListeners',
        ({ plan }) => tcpListeners.get(plan).plain,
        (scope) => setKey(scope, EVERYBODY, undefined),
      ),
      set(
        'ruledListeners',
        ({ plan }) => tcpListeners.get(plan).ruled,
        (scope) => setKey(scope, routesOf(scope), undefined),
      ),
      set(
        'httpListeners',
        ({ plan }) => plans.plan.get(plan).http,
        (scope) => setKey(scope, routesOf(scope), views.http.get(scope)),
      ),
    ],
    translated,
  };
}
