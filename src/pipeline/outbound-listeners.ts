import type { DestinationRule } from '#generated/config/specs.ts';
import { isWildcardHost } from '../base/host.ts';
import { Interner } from '../base/intern.ts';
import type { Labels } from '../base/labels.ts';
import { ObjectNumbers, WeakInterner } from '../base/weak-intern.ts';
import type { Derived, Graph } from '../derive/graph.ts';
import { httpProxyListener } from '../envoy/listeners/http-proxy.ts';
import { type HttpChain, type OutboundListener, outboundListener, type TcpChain } from '../envoy/listeners/outbound.ts';
import type { PlannedListener, TcpChainPlan } from '../envoy/listeners/outbound-listeners.ts';
import type { ListenerSwitches } from '../envoy/listeners/switches.ts';
import { routeDestination, serviceDestination } from '../envoy/listeners/tcp-destination.ts';
import { VIRTUAL_OUTBOUND, virtualOutboundListener } from '../envoy/listeners/virtual-outbound.ts';
import type { ProxyScope } from '../model/scope.ts';
import type { Service } from '../model/service.ts';
import type { EncodedResource } from '../proto/resource-set.ts';
import { encodedResource, sameVersion } from './encoded-resource.ts';
import type { ListenerFacets } from './listener-facets.ts';
import { type HttpView, type ListenerViews, metadataText, type TcpView } from './listener-views.ts';
import type { Mesh } from './mesh.ts';
import type { Outbound } from './outbound.ts';
import { deriveOutboundListenerPlan } from './outbound-listener-plan.ts';

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
  readonly scope: RouteScope;
}

/** A listener as proxies of one view have it. Interned. */
interface ListenerKey {
  readonly listener: OutboundListener;
  readonly tcp: TcpView;
  readonly http: HttpView | undefined;
}

/** The captured listener as proxies of one view have it. Interned. */
interface CaptureKey {
  readonly tcp: TcpView;
  readonly http: HttpView | undefined;
  readonly families: ProxyScope['ipFamilies'];
  readonly interceptionMode: 'REDIRECT' | 'TPROXY';
}

/** One part of the listeners of a scope. */
export interface ListenerSource {
  names(scope: ProxyScope): readonly string[];
  /** Undefined for a name that is not of this part. */
  listener(name: string, scope: ProxyScope): EncodedResource | undefined;
}

function speaksHttp({ chains }: PlannedListener): boolean {
  return chains.some(({ kind }) => kind === 'http');
}

/** Listeners for all that workloads call. */
export function deriveOutboundListeners(
  graph: Graph,
  mesh: Mesh,
  views: ListenerViews,
  facets: ListenerFacets,
  switches: ListenerSwitches,
  outbound: Outbound,
): ListenerSource {
  const plan = deriveOutboundListenerPlan(graph, mesh, views, switches);
  const numbers = new ObjectNumbers();
  const routeScopes = new Interner<RouteScope>();
  const resolveKeys = new WeakInterner<ResolveKey>();
  const resolvedListeners = new WeakInterner<OutboundListener>();
  const listenerKeys = new WeakInterner<ListenerKey>();
  const captureKeys = new WeakInterner<CaptureKey>();

  /** Key `namespace|sidecar|host`: the service that a proxy knows by the host. */
  const knownServices = graph.derived<string, Service | undefined>('listenerDestination', (key) => {
    const [namespace = '', sidecar = '', host = ''] = key.split('|');
    return mesh.sidecarScope.get({ namespace, sidecar }).servicesByHostname.get(host);
  });
  const ruleOf = (scope: RouteScope, service: Service | undefined): DestinationRule | undefined =>
    service && mesh.destinationRule(scope, service, 'outbound')?.rule.spec;

  const tcpChain = (plan: TcpChainPlan, scope: RouteScope): readonly TcpChain[] => {
    const { match, to, path, port } = plan;
    const statPattern = mesh.facet('outboundClusterStatName') ?? '';
    const common = { match, protocol: port.protocol, ...(path === undefined ? {} : { path }) };
    if ('serviceId' in to) {
      const service = mesh.serviceById.get(to.serviceId);
      if (service === undefined) return [];
      const dynamic = isWildcardHost(service.hostname) && service.resolution === 'DynamicDNS';
      const tcp = serviceDestination({ service, port: to.port, rule: ruleOf(scope, service), statPattern });
      return [{ ...common, tcp, ...(dynamic ? { dynamicHost: { host: service.hostname, port: port.port } } : {}) }];
    }
    const virtualService = mesh.virtualService.get(to.virtualService);
    const route = virtualService?.spec[to.block]?.[to.index]?.route ?? [];
    const [first] = route;
    if (virtualService === undefined || first === undefined) return [];
    const serviceOf = (host: string) => knownServices.get(`${scope.namespace}|${scope.sidecar}|${host}`);
    const rule = ruleOf(scope, serviceOf(first.destination.host));
    return [{ ...common, tcp: routeDestination({ route, virtualService, port, serviceOf, rule, statPattern }) }];
  };
  const resolved: Derived<ResolveKey, OutboundListener> = graph.derived('resolvedListener', ({ planned, scope }) => {
    const { name, binds, port, toPort } = planned;
    const chains = planned.chains.flatMap((chain): readonly (HttpChain | TcpChain)[] => {
      if (chain.kind === 'tcp') return tcpChain(chain, scope);
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
          tcp: facets.tcpSettings(tcp),
          http: http && facets.httpSettings(tcp, http),
        }),
      ),
    { equals: sameVersion },
  );
  const captures: Derived<CaptureKey, EncodedResource> = graph.derived(
    'virtualOutbound',
    ({ tcp, http, families, interceptionMode }) =>
      encodedResource(
        LISTENER,
        VIRTUAL_OUTBOUND,
        virtualOutboundListener({
          families,
          dualStack: mesh.options.dualStack,
          interceptionMode,
          port: views.virtualPorts().outbound,
          unknownTraffic: tcp.unknownTraffic,
          tcp: facets.tcpSettings(tcp),
          dynamicHosts: http && facets.httpSettings(tcp, http),
        }),
      ),
    { equals: sameVersion },
  );

  const keyOf = (listener: OutboundListener, http: boolean, scope: ProxyScope): ListenerKey => {
    const tcp = views.tcp.get(scope);
    const httpView = http ? views.http.get(scope) : undefined;
    const id = `${numbers.of(listener)}~${numbers.of(tcp)}~${numbers.of(httpView)}`;
    return listenerKeys.intern(id, () => ({ listener, tcp, http: httpView }));
  };
  const resolve = (planned: PlannedListener, scope: ProxyScope): OutboundListener => {
    const { namespace, sidecar } = scope;
    const routed = routeScopes.intern({ namespace, sidecar, labels: outbound.scopeOf.get(scope)?.labels ?? {} });
    return resolved.get(
      resolveKeys.intern(`${numbers.of(planned)}~${numbers.of(routed)}`, () => ({ planned, scope: routed })),
    );
  };

  const httpProxyPort = (scope: ProxyScope): number => {
    const own = metadataText(scope, 'HTTP_PROXY_PORT');
    return /^\d+$/.test(own) ? Number(own) : (mesh.facet('proxyHttpPort') ?? 0);
  };
  const proxyListeners = new Map<string, OutboundListener>();
  const httpProxy = (scope: ProxyScope): OutboundListener | undefined => {
    const port = httpProxyPort(scope);
    if (port === 0) return undefined;
    const key = `${scope.ipFamilies}/${port}`;
    const listener = proxyListeners.get(key) ?? httpProxyListener(scope.ipFamilies, port);
    proxyListeners.set(key, listener);
    return listener;
  };
  const capture = (scope: ProxyScope): EncodedResource | undefined => {
    const { interceptionMode, ipFamilies: families } = scope;
    if (interceptionMode === 'NONE') return undefined;
    const tcp = views.tcp.get(scope);
    const view = views.http.get(scope);
    const http = view.anyHost === undefined ? undefined : view;
    const id = `${numbers.of(tcp)}~${numbers.of(http)}~${families}~${interceptionMode}`;
    return captures.get(captureKeys.intern(id, () => ({ tcp, http, families, interceptionMode })));
  };

  return {
    names: (scope) => {
      const proxy = httpProxy(scope);
      return [
        ...plan.get(scope).names,
        ...(proxy === undefined ? [] : [proxy.name]),
        ...(scope.interceptionMode === 'NONE' ? [] : [VIRTUAL_OUTBOUND]),
      ];
    },
    listener: (name, scope) => {
      if (name === VIRTUAL_OUTBOUND) return capture(scope);
      const planned = plan.get(scope).listeners.get(name);
      if (planned !== undefined) return listeners.get(keyOf(resolve(planned, scope), speaksHttp(planned), scope));
      const proxy = httpProxy(scope);
      return proxy?.name === name ? listeners.get(keyOf(proxy, true, scope)) : undefined;
    },
  };
}
