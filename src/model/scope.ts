import type { IstioEgressListener, Sidecar } from '#generated/config/specs.ts';
import type { Hostname } from '../base/host.ts';
import type { Labels } from '../base/labels.ts';
import type { Config, ConfigKey } from '../config/config.ts';
import type { Locality } from './endpoint.ts';
import type { PatchRef } from './envoy-filter.ts';
import type { Capabilities, InterceptionMode, ProxyType } from './proxy.ts';
import type { Service } from './service.ts';

/** Which of a proxy's IPs come first decides its wildcard and loopback addresses. */
export type IpFamilies = 'IPv4' | 'IPv6' | 'dual-IPv4' | 'dual-IPv6';

/** A service port that the proxy's own workload serves. */
export interface TargetRef {
  readonly serviceId: string;
  readonly port: number;
  readonly targetPort: number;
}

/** What tracers want to know of a proxy. Each is absent where none asks for it. */
export interface TracedAs {
  /** Minor version of Istio whose proxies understand what it does. */
  readonly istioMinor: number;
  /** As the node says. */
  readonly service?: string;
  /** By the conventions of OpenTelemetry. */
  readonly conventional?: string;
}

/**
 * All that the *sets* of resources of a proxy depend on; equal proxies share one. Interned: compare by identity, or by `key`.
 * What a single *resource* may depend on is a narrower view, made from this by the derivation of that resource.
 */
export interface ProxyScope {
  readonly key: string;
  readonly type: ProxyType;
  readonly namespace: string;
  readonly dnsDomain: string;
  readonly labels: Labels;
  readonly serviceAccount: string;
  /** The Sidecar object that applies, or empty; of routers `OF_ROUTERS`. */
  readonly sidecar: ConfigKey | '';
  readonly interceptionMode: InterceptionMode;
  readonly capabilities: Capabilities;
  readonly ipFamilies: IpFamilies;
  /** The proxy's own IPs; empty where no resource of its sets depends on them. */
  readonly ips: readonly string[];
  readonly network: string;
  readonly clusterId: string;
  /** Parts are empty where nothing is known. */
  readonly locality: Locality;
  /** Of the proxy's own workload, in the order of services, then ports. */
  readonly targets: readonly TargetRef[];
  /** Patches of EnvoyFilters that it gets, in order. */
  readonly patches: readonly PatchRef[];
  /** What tracers of mesh.yaml ask for; absent where there are none. */
  readonly tracedAs?: TracedAs;
  /** Node metadata that translation reads (`MESH_ID`, `PROXY_CONFIG`, `HTTP_PROXY_PORT`, `UNPRIVILEGED_POD`, …), normalised. */
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** In the place of a Sidecar's key: routers have none, and see of a host the first service, whosever it is. */
export const OF_ROUTERS: ConfigKey = 'router';

/**
 * What selection needs to know of a VirtualService. The object itself is read by `key` (`mesh.virtualService.get(key)`) only where
 * its routes are translated, so that a changed weight or match touches no scope, no listener without its tcp or tls routes,
 * and no other virtual host.
 */
export interface VirtualServiceHead {
  readonly key: ConfigKey;
  readonly namespace: string;
  readonly name: string;
  readonly creationTime: number;
  /** FQDN or wildcard. */
  readonly hosts: readonly Hostname[];
  /** `mesh`, or `namespace/name`; never empty. */
  readonly gateways: readonly string[];
  readonly hasHttp: boolean;
  readonly hasTls: boolean;
  readonly hasTcp: boolean;
  /** Some match of it names source labels. */
  readonly hasSourceLabels: boolean;
  /** Some match of it names a source namespace, so that its destinations differ from one to the other. */
  readonly hasSourceNamespace: boolean;
  /** Made from a Gateway API route: hosts are matched by subset. */
  readonly gatewaySemantics: boolean;
  /** Destination hosts with their ports, sorted; port 0 means all. Pairs are `[host, ports]`. */
  readonly destinations: readonly (readonly [Hostname, readonly number[]])[];
}

/** One egress listener of a Sidecar (or the one that every proxy without a Sidecar has) and what it imports. */
export interface EgressListener {
  /** Absent for the implicit listener that imports all. */
  readonly listener?: IstioEgressListener;
  /** The listener names a port, so only that port of each service is imported. */
  readonly matchPort: boolean;
  /** In istiod's order: exported to the namespace, then public; each oldest first. */
  readonly services: readonly Service[];
  /** In order of precedence. */
  readonly virtualServices: readonly VirtualServiceHead[];
  /** Service hostname → key of the VirtualService whose host matches it most specifically. */
  readonly mostSpecificVirtualService: ReadonlyMap<Hostname, ConfigKey>;
}

/**
 * What proxies of a namespace under one Sidecar object see.
 * @see istio/istio pilot/pkg/model/sidecar.go `SidecarScope`
 */
export interface SidecarScope {
  readonly namespace: string;
  readonly sidecar?: Config<Sidecar>;
  readonly egress: readonly EgressListener[];
  /** Union over the egress listeners, one per hostname, ports merged. */
  readonly services: readonly Service[];
  readonly servicesByHostname: ReadonlyMap<Hostname, Service>;
  readonly outboundTrafficPolicy: {
    readonly mode: 'ALLOW_ANY' | 'REGISTRY_ONLY' | 'ALLOW_ANY_DYNAMIC_DNS';
    readonly egressProxy?: {
      readonly host?: string;
      readonly subset?: string;
      readonly port?: { readonly number?: number };
    };
  };
}
