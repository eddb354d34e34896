import type { DestinationRule, Topology, VirtualService } from '#generated/config/specs.ts';
import { isSubsetOfHost } from '../../base/host.ts';
import { canonicalJson, Interner } from '../../base/intern.ts';
import { append } from '../../base/multimap.ts';
import { ObjectNumbers, WeakInterner } from '../../base/weak-intern.ts';
import type { Config } from '../../config/config.ts';
import type { Collection, Derived, Graph } from '../../derive/graph.ts';
import { gatewayChains, type PassedCluster } from '../../envoy/gateways/chains.ts';
import { gatewayListener } from '../../envoy/gateways/listener.ts';
import { type Addresses, listenerName, wildcards } from '../../envoy/listeners/addresses.ts';
import { gatewayConnectionSettings } from '../../envoy/listeners/connection-settings.ts';
import { passedDestination, routeDestination } from '../../envoy/listeners/tcp-destination.ts';
import type { MergedPort, MergeStyle } from '../../model/merged-gateway.ts';
import { routesRequests } from '../../model/merged-gateway-server.ts';
import type { ProxyScope } from '../../model/scope.ts';
import type { Service } from '../../model/service.ts';
import type { EncodedResource } from '../../proto/resource-set.ts';
import type { Access, AccessKeys } from '../access-policies.ts';
import { encodedResource, sameVersion } from '../encoded-resource.ts';
import type { ListenerFacets } from '../listener-facets.ts';
import { type HttpView, type ListenerViews, metadataFlag, type TcpView, type TlsView } from '../listener-views.ts';
import { type Mesh, ONE } from '../mesh.ts';
import type { Outbound } from '../outbound.ts';
import { LISTENER } from '../outbound-listeners.ts';
import type { OutboundScope } from '../outbound-scope.ts';
import { proxyConfigOf } from '../proxy-config.ts';
import { mergeStyle } from './merged-gateways.ts';

/** What of a gateway counts for each of its listeners. Interned. */
interface GatewayView {
  readonly tls: TlsView;
  readonly style: MergeStyle;
  readonly exactBalance: boolean;
  readonly topology: Topology;
}

/** One listener as gateways of one view have it. Interned. */
interface ListenerKey {
  readonly name: string;
  readonly binds: Addresses;
  /** All at the listener's place. */
  readonly ports: readonly MergedPort[];
  readonly policies: AccessKeys;
  readonly view: GatewayView;
  readonly tcp: TcpView;
  readonly http: HttpView;
  /** From where destinations are looked at; absent where requests are routed and nothing else. */
  readonly outbound: OutboundScope | undefined;
}

/** Deps of listeners that other parts have derived. */
export interface GatewayListenerSources {
  readonly outbound: Outbound;
  readonly views: ListenerViews;
  readonly facets: ListenerFacets;
  readonly access: Access;
}

const FIRST_UNPRIVILEGED = 1024;

/** Listeners of every router: one for each place of its merged Gateways. */
export function deriveGatewayListeners(
  graph: Graph,
  mesh: Mesh,
  { outbound, views, facets, access }: GatewayListenerSources,
): Collection<ProxyScope, string, EncodedResource> {
  const gatewayViews = new Interner<GatewayView>();
  const keys = new WeakInterner<ListenerKey>();
  const numbers = new ObjectNumbers();

  const viewOf = (scope: ProxyScope): GatewayView =>
    gatewayViews.intern({
      tls: views.tls(scope),
      style: mergeStyle(scope),
      exactBalance: metadataFlag(scope, 'OUTBOUND_LISTENER_EXACT_BALANCE'),
      topology: proxyConfigOf(scope, mesh).gatewayTopology ?? {},
    });
  const ruleOf = (scope: OutboundScope, service: Service | undefined): DestinationRule | undefined =>
    service && mesh.destinationRule(scope, service, 'outbound')?.rule.spec;
  const statPattern = () => mesh.facet('outboundClusterStatName') ?? '';

  const virtualServices = ({ namespace }: OutboundScope, gateway: string): readonly Config<VirtualService>[] =>
    mesh.boundVirtualServices.forConnections(namespace, gateway).flatMap((key) => mesh.virtualService.get(key) ?? []);
  const passedClusters = (scope: OutboundScope): readonly PassedCluster[] =>
    [...outbound.planOf.get(scope).entries.values()].flatMap(({ name, serviceId, port, subset, rule, passesTls }) => {
      const service = passesTls && mesh.serviceById.get(serviceId);
      if (!service) return [];
      const tcp = passedDestination({
        service,
        port: port.port,
        subset,
        rule: rule?.rule.spec,
        statPattern: statPattern(),
      });
      return [{ host: service.hostname, serverName: name, protocol: port.protocol, tcp }];
    });

  const listeners: Derived<ListenerKey, EncodedResource | undefined> = graph.derived(
    'gatewayListener',
    ({ name, binds, ports, policies, view, tcp, http, outbound: scope }) => {
      const settings = facets.httpSettings(tcp, http, 'gateway');
      const { certificate: agent, serverFiles, sockets } = view.tls;
      const chains = gatewayChains({
        ports,
        style: view.style,
        virtualServices: (gateway) => (scope === undefined ? [] : virtualServices(scope, gateway)),
        passedClusters: (hosts) =>
          scope === undefined
            ? []
            : passedClusters(scope).filter(({ host }) => hosts.some((covering) => isSubsetOfHost(host, covering))),
        destination: ({ virtualService, route }, port) => {
          const serviceOf = (host: string) => scope && outbound.knownService(scope, host);
          const rule = scope && ruleOf(scope, serviceOf(route[0]?.destination.host ?? ''));
          return routeDestination({ route, virtualService, port, serviceOf, rule, statPattern: statPattern() });
        },
      });
      const { connectionSettings } = settings.proxy;
      const listener = gatewayListener({
        name,
        binds: mesh.options.dualStack ? binds : [binds[0]],
        port: ports[0]?.port ?? 0,
        chains,
        // A gateway is what others call from outside, so that what counts as inside must be said.
        http: {
          ...settings,
          networks: mesh.networks.get(ONE),
          proxy: { ...settings.proxy, connectionSettings: gatewayConnectionSettings(connectionSettings) },
        },
        access: access.policies(policies),
        topology: view.topology,
        tls: { agent, serverFiles, sockets, defaults: mesh.facet('tlsDefaults') },
        exactBalance: view.exactBalance,
      });
      return listener && encodedResource(LISTENER, name, listener);
    },
    { equals: sameVersion },
  );

  const places = graph.derived<ProxyScope, ReadonlyMap<string, readonly MergedPort[]>>('gatewayPlaces', (scope) => {
    const { unprivileged } = views.portLimits(scope);
    const found = new Map<string, MergedPort[]>();
    for (const port of mesh.mergedGateway.get(scope)?.ports ?? []) {
      if (unprivileged && port.port < FIRST_UNPRIVILEGED) continue;
      append(found, listenerName(port.bind || wildcards(scope.ipFamilies)[0], port.port), port);
    }
    return found;
  });
  const keyOf = (name: string, ports: readonly MergedPort[], scope: ProxyScope): ListenerKey => {
    const bind = ports[0]?.bind ?? '';
    const binds: Addresses = bind === '' ? wildcards(scope.ipFamilies) : [bind];
    const passesConnections = ports.some(({ servers }) => servers.some((server) => !routesRequests(server)));
    const policies = access.keysOf(scope);
    const parts = { name, binds, ports, policies };
    const interned = {
      view: viewOf(scope),
      tcp: views.tcp.get(scope),
      http: views.http.get(scope),
      outbound: passesConnections ? outbound.scopeOf.get(scope) : undefined,
    };
    const ids = Object.values(interned).map((object) => numbers.of(object));
    return keys.intern(`${canonicalJson(parts)}~${ids.join('~')}`, () => ({ ...parts, ...interned }));
  };
  return graph.collectionOfParts<ProxyScope, string, ListenerKey, EncodedResource>('gatewayListeners', {
    parts: (scope) => new Map([...places.get(scope)].map(([name, ports]) => [name, keyOf(name, ports, scope)])),
    value: (_name, key) => listeners.get(key),
    equals: sameVersion,
  });
}
