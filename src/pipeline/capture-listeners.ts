import { ObjectNumbers, WeakInterner } from '../base/weak-intern.ts';
import type { Derived, Graph } from '../derive/graph.ts';
import { httpProxyListener } from '../envoy/listeners/http-proxy.ts';
import type { OutboundListener } from '../envoy/listeners/outbound.ts';
import { VIRTUAL_OUTBOUND, virtualOutboundListener } from '../envoy/listeners/virtual-outbound.ts';
import type { ProxyScope } from '../model/scope.ts';
import type { EncodedResource } from '../proto/resource-set.ts';
import { encodedResource, sameVersion } from './encoded-resource.ts';
import type { ListenerFacets } from './listener-facets.ts';
import { type HttpView, type ListenerViews, metadataText, type TcpView } from './listener-views.ts';
import type { Mesh } from './mesh.ts';
import { LISTENER, type OutboundListeners } from './outbound-listeners.ts';

/** The listener for captured connections as proxies of one view have it. Interned. */
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

/** Listeners by which a workload's connections come to its proxy, whatever services there are. */
export function deriveCaptureListeners(
  graph: Graph,
  mesh: Mesh,
  outbound: OutboundListeners,
  views: ListenerViews,
  facets: ListenerFacets,
): ListenerSource {
  const numbers = new ObjectNumbers();
  const captureKeys = new WeakInterner<CaptureKey>();
  const proxyListeners = new Map<string, OutboundListener>();

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
          tcp: facets.tcpSettings(tcp, 'outbound'),
          dynamicHosts: http && facets.httpSettings(tcp, http, 'outbound'),
        }),
      ),
    { equals: sameVersion },
  );
  const capture = (scope: ProxyScope): EncodedResource | undefined => {
    const { interceptionMode, ipFamilies: families } = scope;
    if (interceptionMode === 'NONE') return undefined;
    const tcp = views.tcp.get(scope);
    const view = views.http.get(scope);
    const http = view.anyHost === undefined ? undefined : view;
    const id = `${numbers.of(tcp)}~${numbers.of(http)}~${families}~${interceptionMode}`;
    return captures.get(captureKeys.intern(id, () => ({ tcp, http, families, interceptionMode })));
  };

  const proxyPort = (scope: ProxyScope): number => {
    const own = metadataText(scope, 'HTTP_PROXY_PORT');
    return /^\d+$/.test(own) ? Number(own) : (mesh.facet('proxyHttpPort') ?? 0);
  };
  const httpProxy = (scope: ProxyScope): OutboundListener | undefined => {
    const port = proxyPort(scope);
    if (port === 0) return undefined;
    const key = `${scope.ipFamilies}/${port}`;
    const listener = proxyListeners.get(key) ?? httpProxyListener(scope.ipFamilies, port);
    proxyListeners.set(key, listener);
    return listener;
  };

  return {
    names: (scope) => {
      const proxy = httpProxy(scope);
      return [
        ...(proxy === undefined ? [] : [proxy.name]),
        ...(scope.interceptionMode === 'NONE' ? [] : [VIRTUAL_OUTBOUND]),
      ];
    },
    listener: (name, scope) => {
      if (name === VIRTUAL_OUTBOUND) return capture(scope);
      const proxy = httpProxy(scope);
      if (proxy?.name !== name) return undefined;
      return outbound.translated(proxy, views.tcp.get(scope), views.http.get(scope));
    },
  };
}
