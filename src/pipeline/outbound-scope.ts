import type { DestinationRule } from '#generated/config/specs.ts';
import { deepEqual } from '../base/equal.ts';
import { Interner } from '../base/intern.ts';
import type { Labels } from '../base/labels.ts';
import type { Derived, Graph } from '../derive/graph.ts';
import type { ClusterView } from '../envoy/clusters/view.ts';
import { type DnsLookupFamily, dnsLookupFamily } from '../envoy/dns-cache.ts';
import type { ProxyScope } from '../model/scope.ts';
import type { Mesh } from './mesh.ts';
import { proxyConfigOf } from './proxy-config.ts';

/**
 * What the set of clusters (and of their endpoints) that a proxy sends traffic to depends on. Proxies of a namespace share it
 * whatever they serve themselves. Interned.
 */
export interface OutboundScope {
  readonly namespace: string;
  readonly sidecar: ProxyScope['sidecar'];
  /** Of the proxy's labels those that DestinationRules of its namespace select workloads by. */
  readonly labels: Labels;
  readonly view: ClusterView;
  readonly lookupFamily: DnsLookupFamily;
  /** A gateway that passes mutual TLS of the mesh on by its SNI has clusters of its own for that. */
  readonly passesTls?: true;
}

/** Undefined for a proxy that sends nothing by such clusters. */
export function deriveOutboundScope(graph: Graph, mesh: Mesh): Derived<ProxyScope, OutboundScope | undefined> {
  const scopes = new Interner<OutboundScope>();
  const views = new Interner<ClusterView>();

  const selectorKeys = graph.derived<string, readonly string[]>(
    'destinationRuleSelectors',
    (namespace) => [
      ...new Set(
        mesh
          .ofKindIn<DestinationRule>('DestinationRule', namespace)
          .flatMap(({ spec }) => Object.keys(spec.workloadSelector?.matchLabels ?? {})),
      ),
    ],
    { equals: deepEqual },
  );

  return graph.derived<ProxyScope, OutboundScope | undefined>('outboundScope', (scope) => {
    if (scope.type === 'waypoint') return undefined;
    const { namespace, sidecar, metadata, capabilities, ipFamilies } = scope;
    const labels = Object.fromEntries(
      selectorKeys.get(namespace).flatMap((key) => (key in scope.labels ? [[key, scope.labels[key] ?? '']] : [])),
    );
    const { metadataExchange, metadataExchangeLabels: peerLabels } = mesh.options.listeners;
    const certificate = textOf(metadata['TLS_CLIENT_CERT_CHAIN']);
    const view = views.intern({
      type: scope.type,
      istioExtensions: capabilities.istioExtensions,
      peerExchange: capabilities.istioExtensions && metadataExchange,
      ...(peerLabels.length > 0 ? { peerLabels } : {}),
      sds: capabilities.sds,
      secretSockets: { credential: metadata['credential'] === 'true', files: metadata['file-credential'] === 'true' },
      preserveHeaderCase: proxyConfigOf(scope, mesh).proxyHeaders?.preserveHttp1HeaderCase === true,
      ...(certificate
        ? {
            clientFiles: {
              certificate,
              privateKey: textOf(metadata['TLS_CLIENT_KEY']),
              roots: textOf(metadata['TLS_CLIENT_ROOT_CERT']),
            },
          }
        : {}),
    });
    const lookupFamily = dnsLookupFamily(ipFamilies, mesh.options.dualStack);
    const passesTls = mesh.mergedGateway.get(scope)?.autoPassthrough === true;
    return scopes.intern({ namespace, sidecar, labels, view, lookupFamily, ...(passesTls && { passesTls }) });
  });
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
