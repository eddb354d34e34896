import type { DestinationRule } from '#generated/config/specs.ts';
import { sameItems } from '../base/equal.ts';
import { hostsOverlap } from '../base/host.ts';
import { canonicalJson } from '../base/intern.ts';
import type { Labels } from '../base/labels.ts';
import { WeakInterner } from '../base/weak-intern.ts';
import type { Derived, Graph } from '../derive/graph.ts';
import type { AddressView } from '../envoy/listeners/service-address.ts';
import type { ProxyScope } from '../model/scope.ts';
import { fullHostname } from '../model/virtual-service.ts';
import { addressView } from './listener-views.ts';
import { type Mesh, ONE } from './mesh.ts';
import { proxyConfigOf } from './proxy-config.ts';
import type { HashedHosts } from './route-hashes.ts';
import type { RouteHeads } from './route-heads.ts';

/** What of a sidecar its outbound route configurations depend on. Interned. */
export interface RouteView {
  readonly namespace: string;
  readonly sidecar: ProxyScope['sidecar'];
  readonly dnsDomain: string;
  /** Of the proxy's labels those that a VirtualService or a DestinationRule asks for. */
  readonly labels: Labels;
  readonly addresses: AddressView;
  /** Nothing redirects the workload's connections. */
  readonly unredirected: boolean;
  /** It takes requests for any host on a port of its own. */
  readonly httpProxy: boolean;
  readonly proxylessGrpc: boolean;
  readonly includeRequestAttemptCount: boolean;
  readonly appendXForwardedHost: boolean;
}

/** Undefined for proxies other than sidecars. */
export function deriveRouteView(
  graph: Graph,
  mesh: Mesh,
  heads: RouteHeads,
  hashedHosts: HashedHosts,
): Derived<ProxyScope, RouteView | undefined> {
  const pool = new WeakInterner<RouteView>();
  const interned = (view: RouteView): RouteView => pool.intern(canonicalJson(view), () => Object.freeze(view));

  const labelNames = graph.derived<RouteView, readonly string[]>(
    'routeLabelNames',
    (view) => {
      const names = new Set<string>();
      for (const { virtualServices } of mesh.sidecarScope.get(view).egress) {
        for (const { key, hasSourceLabels } of virtualServices) {
          if (hasSourceLabels) for (const name of heads.get(key)?.labelNames ?? []) names.add(name);
        }
      }
      // A rule that selects workloads may take the place of one with a hash, or be it.
      const hashed = hashedHosts.get(ONE);
      const rules = hashed.length === 0 ? [] : mesh.ofKindIn<DestinationRule>('DestinationRule', view.namespace);
      for (const { spec, namespace } of rules) {
        const host = fullHostname(spec.host, namespace, mesh.options.domainSuffix);
        if (!hashed.some((other) => hostsOverlap(other, host))) continue;
        for (const name of Object.keys(spec.workloadSelector?.matchLabels ?? {})) names.add(name);
      }
      return [...names].sort();
    },
    { equals: sameItems },
  );

  return graph.derived<ProxyScope, RouteView | undefined>('routeView', (scope) => {
    if (scope.type !== 'sidecar') return undefined;
    const { proxyHeaders } = proxyConfigOf(scope, mesh);
    const unlabelled = interned({
      namespace: scope.namespace,
      sidecar: scope.sidecar,
      dnsDomain: scope.dnsDomain,
      labels: {},
      addresses: addressView(scope, mesh.options.addressAllocation),
      unredirected: scope.interceptionMode === 'NONE',
      httpProxy: httpProxyPort(scope, mesh) !== 0,
      proxylessGrpc: scope.capabilities.grpc,
      includeRequestAttemptCount: proxyHeaders?.attemptCount?.disabled !== true,
      appendXForwardedHost: proxyHeaders?.xForwardedHost?.enabled === true,
    });
    const names = labelNames.get(unlabelled).filter((name) => name in scope.labels);
    if (names.length === 0) return unlabelled;
    const labels = Object.fromEntries(names.map((name) => [name, scope.labels[name] ?? '']));
    return interned({ ...unlabelled, labels });
  });
}

function httpProxyPort({ metadata }: ProxyScope, mesh: Mesh): number {
  const own = metadata['HTTP_PROXY_PORT'];
  const port = typeof own === 'string' || typeof own === 'number' ? Number(own) : Number.NaN;
  return Number.isInteger(port) ? port : (mesh.facet('proxyHttpPort') ?? 0);
}
