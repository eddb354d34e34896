import type { JWTRule, WasmConfig } from '#generated/config/specs.ts';
import type { Hostname } from '../../base/host.ts';
import type { Labels } from '../../base/labels.ts';
import type { ConfigKey } from '../../config/config.ts';
import type { Finding } from '../../config/finding.ts';
import type { KeySet } from '../../config/key-sets.ts';
import type { MtlsMode } from '../authentication.ts';
import type { ProviderKind } from './provider-abilities.ts';

/** `namespace/name`, the way an object of a known kind is called in a finding. */
export type ObjectName = string;

/** What is known under a hostname. */
export interface KnownService {
  /** Numbers of the ports, rising; those of all its objects. */
  readonly ports: readonly number[];
}

/** What decides whether the TLS of clients is that of a service. */
export interface ServerSide {
  readonly namespace: string;
  readonly inMesh: boolean;
  /** What PeerAuthentications without a selector say of its namespace; undefined: nothing. */
  readonly mode: MtlsMode | undefined;
  readonly ports: readonly { readonly number: number; readonly protocol: string }[];
}

/** Which rules of a VirtualService a server of a Gateway goes by. */
export type GatewayReads = 'http' | 'tls' | 'tcp' | 'nothing';

export interface GatewayServer {
  /** Of VirtualServices of the namespace that asks. */
  readonly hosts: readonly Hostname[];
  readonly port: number;
  readonly reads: GatewayReads;
}

/** The subsets that DestinationRules give a host. */
export interface HostSubsets {
  readonly rule: ObjectName;
  readonly subsets: readonly string[];
}

/** A VirtualService that claims a host, as precedence sees it. */
export interface HostClaim {
  readonly key: ConfigKey;
  readonly name: ObjectName;
}

/** VirtualServices that are at odds over a host, in order of precedence. */
export interface HostRivals {
  /** Those that have this host, itself among them; empty when it is alone. */
  readonly same: readonly HostClaim[];
  /** Those that have another one that overlaps, where one of the two is seen by some namespaces only. */
  readonly overlapping: readonly HostClaim[];
}

/** One condition of a rule, and the text that equal ones share. */
export interface RuleCondition {
  /** Prefix of the path, when that is a part of the condition. */
  readonly prefix: string | undefined;
  /** All else. */
  readonly rest: string;
}

/** The HTTP rules of a VirtualService on a gateway, by their conditions. */
export interface TriedRules {
  readonly claim: HostClaim;
  /** Of all rules, of which each needs one. A rule for all requests has one, with prefix `/`. */
  readonly conditions: readonly RuleCondition[];
}

/** A DestinationRule that others of its namespace may be merged with. */
export interface MergedRule {
  readonly name: ObjectName;
  readonly hasPolicy: boolean;
  readonly subsets: readonly string[];
}

/** What a server of a Gateway has in common with one of another Gateway that is for the same proxies. */
export interface GatewayRival {
  /** Which of the Gateway's servers. */
  readonly server: number;
  /** Those in common; none: only the port. */
  readonly hosts: readonly Hostname[];
  /** `joined`: all of them; else those on the other side. */
  readonly gateways: readonly ObjectName[];
  /**
   * `joined`: the rules of all hold. `first`: the server has the hosts, others do not. `left-out`: the server does not have
   * them. `barred`: it is not served at all, as it can not share its port.
   */
  readonly outcome: 'joined' | 'first' | 'left-out' | 'barred';
}

/** What became of a patch of an EnvoyFilter at the connected proxies that it is for. */
export interface PatchUse {
  /** It found what it is for at one of them. */
  readonly isUsed: boolean;
  /** A proxy that does not get it, or not for every resource, and why. */
  readonly leftOut?: { readonly proxy: string; readonly reason: string };
}

/** For which workloads an object is. */
export interface Selection {
  readonly key: ConfigKey;
  readonly name: ObjectName;
  readonly labels: Labels | undefined;
  /** Whether it has a selector, be it an empty one. */
  readonly isSelective: boolean;
  /** Whether it names objects that it is for. */
  readonly isTargeted: boolean;
}

/** Another ServiceEntry for a port of a host. */
export interface ProtocolRival {
  readonly name: ObjectName;
  /** As written; empty when it says none. */
  readonly protocol: string;
}

/** Addresses of a service that take all connections to a port. */
export interface AddressBlock {
  readonly name: ObjectName;
  /** As written: an IP or a block. */
  readonly address: string;
}

/** An AuthorizationPolicy with the action CUSTOM, by whom it asks and for which workloads. */
export interface CustomPolicy {
  readonly name: ObjectName;
  readonly provider: string;
  readonly labels: Labels;
}

/** A tracer in use that a proxy can not have without the cluster of its service. */
export interface NeededTracer {
  readonly provider: string;
  readonly namespace: string;
  readonly host: Hostname;
}

/** A connected router that a Gateway is for, and what it may have. */
export interface GatewayProxy {
  readonly id: string;
  /** Private keys may go over its connection. */
  readonly keys: boolean;
  /** An agent reads files of certificates for it. */
  readonly agent: boolean;
}

/** What analyzers may ask of the mesh: each answer is narrow, so that it changes seldom. */
export interface MeshFacts {
  readonly domainSuffix: string;
  /** Whether TLS that a Sidecar sets for its listeners counts. */
  readonly endsTlsOfIngress: boolean;
  rootNamespace(): string;
  /** The service that clients of a namespace know under a hostname, be it by a wildcard; undefined: there is none. */
  service(host: Hostname, namespace: string): KnownService | undefined;
  /** The service that clients of a namespace reach under a hostname, as far as their TLS goes; wildcards do not count. */
  serverSide(host: Hostname, namespace: string): ServerSide | undefined;
  /** Whether a service has a workload with these labels, or may have one that is not known. */
  hasServer(host: Hostname, namespace: string, labels: Labels): boolean;
  /** Whether an HTTP rule of any VirtualService has the host as a destination. */
  isSentRequests(host: Hostname): boolean;
  /** Other namespaces that define a host of an object, where a third namespace sees both; sorted. */
  otherOwners(key: ConfigKey, host: Hostname): readonly string[];
  /** Namespaces that have the host, exported or not, sorted. */
  ownersOf(host: Hostname): readonly string[];
  /** Hostnames that clients of a namespace know, sorted. */
  hostnames(namespace: string): readonly Hostname[];
  /** Whether clients of `client` would get something by an egress host, of one namespace or (`*`) of any. */
  isImported(client: string, namespace: string, host: Hostname): boolean;
  /** DestinationRules about a host, or a wildcard that covers it, in order of names. */
  subsetsOf(host: Hostname): readonly HostSubsets[];
  /** The rules of the same namespace, host, selector and visibility that come before a DestinationRule and take it in. */
  rulesBefore(key: ConfigKey): readonly MergedRule[];
  /**
   * Whether there is such a VirtualService, and whether those of the client's namespace may delegate to it: it must have no
   * hosts, and be exported there.
   */
  virtualService(namespace: string, name: string, client: string): 'delegate' | 'root' | 'hidden' | undefined;
  /** Whether a VirtualService delegates to this one. */
  isDelegatedTo(name: ObjectName): boolean;
  /** VirtualServices before one that have routes for a name in TLS handshakes on a gateway, in order. */
  serverNameTakenBefore(key: ConfigKey, gateway: ObjectName, serverName: Hostname): readonly ObjectName[];
  /** @param name `namespace/name` */
  hasGateway(name: ObjectName): boolean;
  /** Gateways of a namespace, sorted. */
  gatewaysOf(namespace: string): readonly ObjectName[];
  /** The servers of a Gateway as VirtualServices of a namespace may use them; none when there is no such Gateway. */
  serversOfGateway(name: ObjectName, namespace: string): readonly GatewayServer[];
  /** Whether a RequestAuthentication may be for the proxies of a Gateway. */
  checksTokens(gateway: ObjectName): boolean;
  /** Whether a VirtualService names the Gateway. */
  isRoutedTo(gateway: ObjectName): boolean;
  /** Other Gateways with a certificate, for proxies of which some may have this Gateway, too; sorted. */
  gatewaysWithCertificate(key: ConfigKey, certificate: string): readonly ObjectName[];
  /** Routers that a Gateway is for and that have no agent, or may have no keys; sorted. */
  gatewayProxies(key: ConfigKey): readonly GatewayProxy[];
  /** Namespaces that have a Secret of a name, sorted. */
  secretsNamed(name: string): readonly string[];
  /** Whether the files of a certificate or of roots are there and right, by the name that proxies ask for. */
  hasFiles(name: string): boolean;
  /** The time in milliseconds since 1970, to the hour; undefined where it does not matter. */
  now(): number | undefined;
  /** What a Gateway has in common with others. */
  gatewayRivals(key: ConfigKey): readonly GatewayRival[];
  /** VirtualServices for sidecars that are at odds with one over a host of it. */
  rivals(key: ConfigKey, host: Hostname): HostRivals;
  /** Conditions of the VirtualServices whose HTTP rules a gateway tries for a host before those of another, in order. */
  rulesTriedBefore(key: ConfigKey, gateway: ObjectName, host: Hostname): readonly TriedRules[];
  /** What became of the patches of an EnvoyFilter, by their place; without those that are for no connected proxy. */
  patchUses(key: ConfigKey): ReadonlyMap<number, PatchUse>;
  /** Whether any workload has these labels: of a namespace, or (`*`) of any. */
  hasWorkload(namespace: string, labels: Labels): boolean;
  /** Objects of a kind in a namespace that are for workloads, sorted. */
  selections(kind: string, namespace: string): readonly Selection[];
  /** A workload of the namespace that this object and another of its kind select, and the others that do; undefined: there is none. */
  contested(key: ConfigKey): { readonly workload: string; readonly others: readonly ObjectName[] } | undefined;
  /** What is known of the keys of a rule, when they could not be fetched last. */
  keySet(rule: JWTRule): KeySet | undefined;
  /** Why nobody can be asked under the name of a provider; undefined when somebody can. */
  authorizerProblem(provider: string): string | undefined;
  /** Those of a namespace. */
  customPolicies(namespace: string): readonly CustomPolicy[];
  /** Why an Envoy that is connected, or any where it is an image, can not have a module; undefined when all can. */
  unfetchedModule(wasm: WasmConfig): { readonly problem: string; readonly isImage: boolean } | undefined;
  /** Whether policies for one workload may name several providers. */
  severalAuthorizers(): boolean;
  /** Whether the mesh's default is that agents give addresses to services that have none. */
  allocatesAddresses(): boolean;
  /** ServiceEntries without addresses that take TCP on a port, sorted. */
  tcpWithoutAddress(port: number): readonly ObjectName[];
  /** ServiceEntries that give the port another protocol than this one does, where some namespace sees both; sorted. */
  otherProtocols(key: ConfigKey, host: Hostname, port: number): readonly ProtocolRival[];
  /** Names of the extension providers of mesh.yaml and of those that are built in. */
  providers(): readonly string[];
  /** What the extension provider of a name is, whatever case it is written in; undefined: there is none. */
  providerKind(name: string): ProviderKind | undefined;
  /** Whether mesh.yaml, or a Telemetry of the namespace or of the root namespace, names a provider of traces. */
  tracesSomewhere(namespace: string): boolean;
  /** Those of mesh.yaml that its defaults or any Telemetry name. */
  neededTracers(): readonly NeededTracer[];
  /** Whether a connected proxy of the namespace, or (`*`) of any, is an Envoy without Istio's filter for metrics. */
  hasEnvoyWithoutMetrics(namespace: string): boolean;
  /** Whether mesh.yaml says where access logs go. */
  hasDefaultLogProvider(): boolean;
  /** Whether an EnvoyFilter before this one brings in what has the name to proxies of certain versions alone. */
  isPatchedByVersion(key: ConfigKey, name: string): boolean;
  /** Blocks of other hosts' services that have an address in common with this one on a TCP port, sorted. */
  overlapping(key: ConfigKey, address: string, port: number): readonly AddressBlock[];
  /** What of an Ingress or an object of the Gateway API is not done. */
  conversionFindings(key: ConfigKey): readonly Finding[];
}
