import { deepEqual } from '../base/equal.ts';
import { canonicalJson, Interner } from '../base/intern.ts';
import { ObjectNumbers, WeakInterner } from '../base/weak-intern.ts';
import type { Derived, Graph } from '../derive/graph.ts';
import { listenerName, wildcards } from '../envoy/listeners/addresses.ts';
import {
  boundInboundListener,
  type InboundSettings,
  VIRTUAL_INBOUND,
  virtualInboundListener,
} from '../envoy/listeners/inbound.ts';
import {
  catchAllPorts,
  type InboundPort,
  type InboundPortsInput,
  inboundPorts,
} from '../envoy/listeners/inbound-ports.ts';
import type { InboundTls } from '../envoy/listeners/inbound-tls.ts';
import type { ListenerSwitches } from '../envoy/listeners/switches.ts';
import { configPath } from '../envoy/names.ts';
import type { ProxyScope } from '../model/scope.ts';
import type { EncodedResource } from '../proto/resource-set.ts';
import type { Access, AccessKeys } from './access-policies.ts';
import type { ListenerSource } from './capture-listeners.ts';
import { encodedResource, sameVersion } from './encoded-resource.ts';
import type { ListenerFacets } from './listener-facets.ts';
import { type HttpView, type ListenerViews, metadataFlag, type TcpView, type TlsView } from './listener-views.ts';
import { type Mesh, ONE } from './mesh.ts';
import { LISTENER } from './outbound-listeners.ts';
import type { PeerPolicies } from './peer-policies.ts';

/** What of a proxy counts for connections to its workload. Interned. */
interface InboundView {
  readonly tls: TlsView;
  readonly exactBalance: boolean;
}

/** One inbound listener as proxies of one view have it. Interned. */
interface InboundKey {
  readonly name: string;
  /** All that the listener is for: one port if it is bound to it. */
  readonly ports: readonly InboundPort[];
  readonly policies: AccessKeys;
  readonly families: ProxyScope['ipFamilies'];
  readonly interceptionMode: ProxyScope['interceptionMode'];
  readonly view: InboundView;
  readonly tcp: TcpView;
  readonly http: HttpView;
}

/** What MeshConfig says of connections to workloads, as one value. */
interface InboundFacets extends Pick<InboundSettings, 'statPattern' | 'retry'> {
  readonly tls: Pick<InboundTls, 'meshMtls' | 'defaults' | 'trustDomains'>;
}

/** Listeners for all that calls workloads. */
export function deriveInboundListeners(
  graph: Graph,
  mesh: Mesh,
  views: ListenerViews,
  facets: ListenerFacets,
  access: Access,
  peerPolicies: PeerPolicies,
  switches: ListenerSwitches,
): ListenerSource {
  const inboundViews = new Interner<InboundView>();
  const keys = new WeakInterner<InboundKey>();
  const numbers = new ObjectNumbers();

  const inboundFacets: Derived<'', InboundFacets> = graph.derived(
    'inboundFacets',
    () => {
      const trusted = [
        mesh.trustDomain(),
        ...(mesh.facet('trustDomainAliases') ?? []),
        ...(mesh.facet('caCertificates') ?? []).flatMap((certificate) => certificate.trustDomains ?? []),
      ];
      return {
        statPattern: mesh.facet('inboundClusterStatName') ?? '',
        retry: mesh.facet('defaultInboundHttpRetryPolicy'),
        tls: {
          meshMtls: mesh.facet('meshMTLS'),
          defaults: mesh.facet('tlsDefaults'),
          trustDomains: switches.anyTrustDomain ? [] : [...new Set(trusted.filter((domain) => domain !== ''))],
        },
      };
    },
    { equals: deepEqual },
  );

  const portsInput = (scope: ProxyScope): InboundPortsInput => {
    const { sidecar } = mesh.sidecarScope.get(scope);
    const ingress = sidecar?.spec.ingress ?? [];
    const { outbound, inbound } = views.virtualPorts();
    return {
      targets: mesh.targets.get(scope),
      ...(sidecar !== undefined && ingress.length > 0
        ? { sidecar: { name: sidecar.name, namespace: sidecar.namespace, path: configPath(sidecar), ingress } }
        : {}),
      mergesServicePorts: switches.mergesServicePorts,
      sidecarTls: switches.sidecarIngressTls,
      policy: peerPolicies.get(scope),
      interceptionMode: scope.interceptionMode,
      families: scope.ipFamilies,
      ips: scope.ips,
      limits: views.portLimits(scope),
      virtualPorts: [outbound, inbound],
    };
  };
  /** Ports by the listener that they are in. */
  const portsByListener: Derived<ProxyScope, ReadonlyMap<string, readonly InboundPort[]>> = graph.derived(
    'inboundPorts',
    (scope) => {
      const input = portsInput(scope);
      const ports = inboundPorts(input);
      const bound = ports.filter(({ toPort }) => toPort);
      const captured = [...catchAllPorts(input), ...ports.filter(({ toPort }) => !toPort)];
      const byName = new Map<string, readonly InboundPort[]>();
      for (const port of bound) byName.set(listenerName(port.binds[0], port.targetPort), [port]);
      if (scope.interceptionMode !== 'NONE') byName.set(VIRTUAL_INBOUND, captured);
      return byName;
    },
    { equals: deepEqual },
  );

  const viewOf = (scope: ProxyScope): InboundView =>
    inboundViews.intern({
      tls: views.tls(scope),
      exactBalance: metadataFlag(scope, 'INBOUND_LISTENER_EXACT_BALANCE'),
    });

  const settingsOf = ({ policies, view, tcp, http }: InboundKey): InboundSettings => {
    const { statPattern, retry, tls } = inboundFacets.get(ONE);
    const { certificate, serverFiles, sockets } = view.tls;
    const peerExchange = http.istioExtensions && switches.metadataExchange;
    return {
      http: facets.httpSettings(tcp, http, 'inbound'),
      access: access.policies(policies),
      tls: certificate ? { ...tls, serverFiles, sockets, peerExchange } : undefined,
      statPattern,
      retry,
      detectionTimeout: facets.detectionTimeout(),
      exactBalance: view.exactBalance,
      dualStack: mesh.options.dualStack,
    };
  };
  const listeners: Derived<InboundKey, EncodedResource | undefined> = graph.derived(
    'inboundListener',
    (key) => {
      const { name, ports, families, interceptionMode } = key;
      const settings = settingsOf(key);
      if (name !== VIRTUAL_INBOUND) {
        const [port] = ports;
        return port && encodedResource(LISTENER, name, boundInboundListener(port, settings));
      }
      if (interceptionMode === 'NONE') return undefined;
      const port = views.virtualPorts().inbound;
      const listener = virtualInboundListener({
        interceptionMode,
        wildcards: wildcards(families),
        port,
        ports,
        settings,
      });
      return encodedResource(LISTENER, name, listener);
    },
    { equals: sameVersion },
  );

  return {
    names: (scope) => [...portsByListener.get(scope).keys()],
    listener: (name, scope) => {
      const ports = portsByListener.get(scope).get(name);
      if (ports === undefined) return undefined;
      const { ipFamilies: families, interceptionMode } = scope;
      const [view, tcp, http] = [viewOf(scope), views.tcp.get(scope), views.http.get(scope)];
      const policies = access.keysOf(scope);
      const parts = { name, ports, policies, families, interceptionMode };
      const id = `${canonicalJson(parts)}~${numbers.of(view)}~${numbers.of(tcp)}~${numbers.of(http)}`;
      return listeners.get(keys.intern(id, () => ({ ...parts, view, tcp, http })));
    },
  };
}
