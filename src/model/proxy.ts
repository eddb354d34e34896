import type { JsonObject } from '../base/json.ts';
import type { Labels } from '../base/labels.ts';
import type { Locality } from './endpoint.ts';

export type ProxyType = 'sidecar' | 'router' | 'waypoint';
export type InterceptionMode = 'REDIRECT' | 'TPROXY' | 'NONE';

/** What a node can do, from what it says of itself. Part of views' keys and nothing else. */
export interface Capabilities {
  /** It lists Istio's own filters (`istio.metadata_exchange`, `istio.stats`, `istio.alpn`, …). */
  readonly istioExtensions: boolean;
  /** Among them the one that keeps Istio's metrics. */
  readonly istioStats: boolean;
  /** Extensions for logs and traces that it was built without. */
  readonly lacks: readonly string[];
  /** Secrets `default` and `ROOTCA` can be had by it (see INTERFACES: node without an SDS server). */
  readonly sds: boolean;
  /** Private keys of its namespace may go to it: its connection hides them, and who it is, is proven. */
  readonly keys: boolean;
  /** gRPC without a proxy (`GENERATOR: grpc`). */
  readonly grpc: boolean;
}

/**
 * One connected node.
 * @see istio/istio pilot/pkg/model/context.go `Proxy`, `NodeMetadata`
 */
export interface Proxy {
  /** The xDS node id: `type~ip~id~dnsDomain`. */
  readonly nodeId: string;
  readonly type: ProxyType;
  /** First the node id's, then the others of `INSTANCE_IPS`. */
  readonly ips: readonly string[];
  readonly id: string;
  readonly dnsDomain: string;
  readonly namespace: string;
  /** From metadata `LABELS` and, when it belongs to a workload of the config, that workload's, which win. */
  readonly labels: Labels;
  readonly metadata: JsonObject;
  readonly locality?: Locality;
  readonly network: string;
  readonly clusterId: string;
  readonly serviceAccount: string;
  /** Of which service the node says to be a part; may be empty. */
  readonly serviceCluster: string;
  /** Minor version of Istio whose proxies understand what it does. */
  readonly istioMinor: number;
  readonly interceptionMode: InterceptionMode;
  readonly revision: string;
  readonly capabilities: Capabilities;
  /** Full names of the messages that its extensions are configured with, as it lists them. */
  readonly extensionTypes: readonly string[];
}
