import type { PeerAuthentication, VirtualService } from '#generated/config/specs.ts';
import type { Hostname } from '../base/host.ts';
import type { Config, ConfigKey } from '../config/config.ts';
import type { Derived, Input } from '../derive/graph.ts';
import type { ConsolidatedDestinationRule } from '../model/destination-rule.ts';
import type { Endpoint } from '../model/endpoint.ts';
import type { MergedGateway } from '../model/merged-gateway.ts';
import type { Proxy } from '../model/proxy.ts';
import type { ProxyScope, SidecarScope, VirtualServiceHead } from '../model/scope.ts';
import type { Service, ServiceTarget } from '../model/service.ts';

import type { AskedNames } from './asked-names.ts';
import type { Configuration } from './configuration.ts';
import type { Conversions } from './conversions/conversions.ts';
import type { EnvoyFilters } from './envoy-filters.ts';
import type { BoundVirtualServices } from './gateways/bound-virtual-services.ts';
import type { GatewayHead } from './gateways/gateway-heads.ts';
import type { KeySets } from './key-sets.ts';
import type { FindCluster } from './mesh-cluster.ts';
import type { MeshRoots } from './mesh-roots.ts';
import type { MeshOptions } from './options.ts';
import type { Patched } from './patched.ts';
import type { FileSecrets } from './secrets/file-secrets.ts';
import type { TrafficExtensions } from './traffic-extensions.ts';
import type { Vips } from './vips.ts';

/** Key of derivations that exist once. */
export const ONE = '';

/** A namespace and a hostname in one key: `namespace/hostname`. */
export type NamespacedHost = string;

export function namespacedHost(namespace: string, hostname: Hostname): NamespacedHost {
  return `${namespace}/${hostname}`;
}

/**
 * The derivations that all resource types build on: configuration to services, endpoints, policies and scopes.
 * Every member is read through `get`, which records the dependency.
 */
export interface Mesh extends Configuration {
  readonly options: MeshOptions;
  /** All services of a hostname in every namespace, oldest first. */
  readonly servicesOfHost: Derived<Hostname, readonly Service[]>;
  /** Services of one ServiceEntry or Kubernetes Service. */
  readonly servicesOfConfig: Derived<ConfigKey, readonly Service[]>;
  /** The service of a hostname in one namespace (the oldest; a Kubernetes Service before a ServiceEntry). */
  readonly service: Derived<NamespacedHost, Service | undefined>;
  readonly serviceById: Derived<string, Service | undefined>;
  /** Services that a namespace may see: those exported to it alone first, then public ones; each oldest first. */
  readonly visibleServices: Derived<string, readonly Service[]>;
  /** Endpoints of a hostname in a namespace, over all its ports and all objects that define it. */
  readonly endpoints: Derived<NamespacedHost, readonly Endpoint[]>;
  /** SANs to expect from the servers of a service: its own and its endpoints' accounts, with trust domain aliases; sorted. */
  readonly serviceAccounts: Derived<NamespacedHost, readonly string[]>;

  /** VirtualService with hosts, gateways and destinations resolved and delegates merged; undefined for delegates themselves. */
  readonly virtualService: Derived<ConfigKey, Config<VirtualService> | undefined>;
  /** Key `namespace|gateway` (`mesh`, or `namespace/name`): visible to the namespace, in order of precedence. */
  readonly virtualServicesForGateway: Derived<string, readonly VirtualServiceHead[]>;
  readonly boundVirtualServices: BoundVirtualServices;
  /** Key `clientNamespace|serviceNamespace/hostname`: rules that may apply, those with a workload selector first. */
  readonly destinationRules: Derived<string, readonly ConsolidatedDestinationRule[]>;
  /** The rule that applies to traffic of a proxy to a service; a workload selector counts only outbound and in its own namespace. */
  destinationRule(
    scope: Pick<ProxyScope, 'namespace' | 'labels'>,
    service: Pick<Service, 'namespace' | 'hostname'>,
    direction: 'inbound' | 'outbound',
  ): ConsolidatedDestinationRule | undefined;

  /** PeerAuthentications of a namespace (empty: the root namespace's), oldest first. */
  readonly peerAuthentications: Derived<string, readonly Config<PeerAuthentication>[]>;

  /** Names that clients ask for, where only what is asked for is made. */
  readonly asked: AskedNames;
  /** Milliseconds since 1970, to the hour: certificates expire. Set by whoever runs the process. */
  readonly time: Input<typeof ONE, number>;
  readonly roots: MeshRoots;
  readonly proxies: Input<string, Proxy>;
  /** The scope of a connected proxy. */
  readonly scopeOf: Derived<string, ProxyScope | undefined>;
  /** Key: `ProxyScope`, of which only these parts count. */
  readonly sidecarScope: Derived<Pick<ProxyScope, 'namespace' | 'sidecar'>, SidecarScope>;
  /** Key: `ProxyScope`. What the proxy's own workload serves. */
  readonly targets: Derived<ProxyScope, readonly ServiceTarget[]>;
  /** Gateways in order of precedence, as far as they decide whose they are. */
  readonly gateways: Derived<'', readonly GatewayHead[]>;
  /** Key: `ProxyScope`. The Gateways of a router as one; undefined for other proxies. */
  readonly mergedGateway: Derived<ProxyScope, MergedGateway | undefined>;
  /** Files with certificates that configuration names. */
  readonly envoyFilters: EnvoyFilters;
  readonly patched: Patched;
  readonly fileSecrets: FileSecrets;
  /** Addresses that are allocated automatically. */
  readonly vips: Vips;
  /** What Ingresses and objects of the Gateway API are made into. */
  readonly conversions: Conversions;
  readonly findCluster: FindCluster;
  /** Keys that tokens are checked with. */
  readonly keySets: KeySets;
  readonly trafficExtensions: TrafficExtensions;
}
