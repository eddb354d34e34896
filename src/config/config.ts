import type { SourceLocation } from '../base/diagnostic.ts';
import type { JsonObject } from '../base/json.ts';
import type { Labels } from '../base/labels.ts';

/** `group/Kind/namespace/name`; the namespace is empty for cluster-scoped kinds, the group for Kubernetes' core kinds. */
export type ConfigKey = string;

export function configKey(group: string, kind: string, namespace: string, name: string): ConfigKey {
  return `${group}/${kind}/${namespace}/${name}`;
}

/** How a kind is called where groups are left out: the Gateway API's Gateway is a `KubernetesGateway`, as in Istio's code. */
export function kindName({ group, kind }: { readonly group: string; readonly kind: string }): string {
  return group === 'gateway.networking.k8s.io' && kind === 'Gateway' ? 'KubernetesGateway' : kind;
}

/** An object that makes others and looks after them, as a ReplicaSet does for Pods. */
export interface Controller {
  readonly kind: string;
  readonly name: string;
}

/** A YAML document as it stands in a file. */
export interface RawDocument {
  readonly file: string;
  /** Line of the file, from 1, on which `text` begins. */
  readonly line: number;
  readonly text: string;
}

/**
 * A valid, normalised, frozen configuration object. `spec` is in proto JSON with lowerCamelCase names; durations stay text.
 * For kinds without a `spec` field (EndpointSlice, Endpoints, Secret, …) `spec` holds the fields beside `metadata`.
 */
export interface Config<Spec = unknown> {
  readonly key: ConfigKey;
  readonly group: string;
  /** The version as written: `v1`, `v1beta1`, … */
  readonly version: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly labels: Labels;
  readonly annotations: Labels;
  /** What made the object under a name of its own choice, where the document has `generateName` and says so. */
  readonly controller?: Controller;
  /** Milliseconds since 1970; 0 when the document has no `metadata.creationTimestamp`. */
  readonly creationTime: number;
  readonly spec: Spec;
  /** Kubernetes kinds may come with a status (a Pod's address, a load balancer's addresses). */
  readonly status?: JsonObject;
  /** Of the document's first line. */
  readonly location: SourceLocation;
  /** The document, kept so that a field can be placed when a finding needs it. */
  readonly document: RawDocument;
  /** Content hash over all but the place. */
  readonly hash: string;
  /** The source that it came from: `file:etc/istio/conf`, `mcp://…`. */
  readonly source: string;
}
