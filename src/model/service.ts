import type { Hostname } from '../base/host.ts';
import type { Labels } from '../base/labels.ts';
import type { ConfigKey } from '../config/config.ts';
import type { Protocol } from './protocol.ts';

/**
 * How the endpoints of a service are found, in istiod's words:
 * `ClientSideLB` known addresses, EDS; `Passthrough` the caller's own destination address; `DNSLB` and `DNSRoundRobinLB`
 * by DNS in the proxy; `DynamicDNS` by the request's host; `Alias` another name of a service (ExternalName).
 */
export type Resolution = 'ClientSideLB' | 'Passthrough' | 'DNSLB' | 'DNSRoundRobinLB' | 'DynamicDNS' | 'Alias';

export interface ServicePort {
  readonly name: string;
  /** 1–65535. */
  readonly port: number;
  readonly protocol: Protocol;
}

/** Who may see an object: namespaces by name, `*` for all, `.` for its own, `~` for none; absent: the mesh's default. */
export type ExportTo = readonly string[];

/** An address of each family, empty where there is none. */
export interface AutoAddress {
  readonly v4: string;
  readonly v6: string;
}

/**
 * A service under one hostname and one address. A ServiceEntry gives one Service per pair of host and address.
 * @see istio/istio pilot/pkg/model/service.go `Service`
 */
export interface Service {
  /** Unique in the mesh: `namespace/objectName/hostname/address`. */
  readonly id: string;
  readonly hostname: Hostname;
  readonly namespace: string;
  /** The Kubernetes Service's name, or the hostname of a ServiceEntry. */
  readonly name: string;
  /** Name of the object that it comes from. */
  readonly objectName: string;
  readonly registry: 'Kubernetes' | 'External';
  readonly ports: readonly ServicePort[];
  readonly resolution: Resolution;
  readonly meshExternal: boolean;
  /** An IP, a CIDR, or `0.0.0.0` when it has none. */
  readonly address: string;
  /** All virtual IPs of the service (a dual-stack Service has two); empty when `address` is unspecified. */
  readonly vips: readonly string[];
  /** Allocated automatically; used where DNS is captured or `address` is unspecified. */
  readonly autoAddress?: AutoAddress;
  readonly labels: Labels;
  /** Of the workloads behind it. */
  readonly selector?: Labels;
  readonly exportTo?: ExportTo;
  /** SANs to expect from the servers: spiffe URIs or a ServiceEntry's `subjectAltNames`. */
  readonly serviceAccounts: readonly string[];
  /** With resolution `Passthrough`: port number → number to connect to. */
  readonly passthroughTargetPorts?: Readonly<Record<number, number>>;
  readonly externalName?: string;
  /** Other hostnames (of ExternalName services) that stand for this one, sorted by namespace, then name. */
  readonly aliases: readonly { readonly hostname: Hostname; readonly namespace: string }[];
  readonly kubernetesType?: 'ClusterIP' | 'Headless' | 'NodePort' | 'LoadBalancer' | 'ExternalName';
  readonly trafficDistribution?: string;
  readonly dnsConnectStrategy?: string;
  readonly internalTrafficPolicyLocal?: boolean;
  readonly publishNotReadyAddresses?: boolean;
  readonly persistentSession?: { readonly header?: string; readonly cookie?: string; readonly cookiePath?: string };
  /** How other networks reach it. */
  readonly externalAddresses?: readonly string[];
  /** Of one that is reached at nodes. */
  readonly atNodes?: ServiceAtNodes;
  readonly creationTime: number;
  /** The object that it comes from. */
  readonly config: ConfigKey;
}

/** A Service of type NodePort that may be a gateway between networks. */
export interface ServiceAtNodes {
  /** Labels of the nodes whose addresses other networks use; empty: of all. */
  readonly selector: Labels;
  /** `port number → nodePort` */
  readonly ports: Readonly<Record<number, number>>;
}

/** A port of a service on one workload: what an inbound listener and cluster are made for. */
export interface ServiceTarget {
  readonly service: Service;
  readonly port: ServicePort;
  /** The port on which the workload listens. */
  readonly targetPort: number;
}

export const UNSPECIFIED_ADDRESS = '0.0.0.0';

/** Oldest first; equal ages by name, then namespace, then id, as istiod orders them. */
export function compareServices(a: Service, b: Service): number {
  return (
    a.creationTime - b.creationTime ||
    (a.name < b.name ? -1 : a.name > b.name ? 1 : 0) ||
    (a.namespace < b.namespace ? -1 : a.namespace > b.namespace ? 1 : 0)
  );
}
