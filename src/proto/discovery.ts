import { Buffer } from 'node:buffer';
import type { JsonObject } from '../base/json.ts';
import type { EncodedResource } from './resource-set.ts';

/** A packed message whose type is looked at by whoever needs it. `value` is a view of the received bytes. */
export interface PackedMessage {
  readonly typeUrl: string;
  readonly value: Uint8Array;
}

export interface Locality {
  readonly region: string;
  readonly zone: string;
  readonly subZone: string;
}

export interface SemanticVersion {
  readonly majorNumber: number;
  readonly minorNumber: number;
  readonly patch: number;
}

export interface NodeExtension {
  readonly name: string;
  readonly category: string;
  readonly disabled: boolean;
  readonly typeUrls: readonly string[];
}

/** Who asks: `envoy.config.core.v3.Node`, with the fields that a control plane reads. */
export interface Node {
  readonly id: string;
  readonly cluster: string;
  readonly metadata: JsonObject | undefined;
  readonly locality: Locality | undefined;
  readonly userAgentName: string;
  /** Empty when the node says `userAgentBuildVersion` instead. */
  readonly userAgentVersion: string;
  readonly userAgentBuildVersion:
    | { readonly version: SemanticVersion | undefined; readonly metadata: JsonObject | undefined }
    | undefined;
  readonly extensions: readonly NodeExtension[];
  readonly clientFeatures: readonly string[];
}

/** `google.rpc.Status`: why a client refused a response. */
export interface Status {
  readonly code: number;
  readonly message: string;
  readonly details: readonly PackedMessage[];
}

/** `envoy.service.discovery.v3.DiscoveryRequest`. Absent texts are empty, absent lists too. */
export interface DiscoveryRequest {
  readonly versionInfo: string;
  readonly node: Node | undefined;
  readonly resourceNames: readonly string[];
  readonly typeUrl: string;
  readonly responseNonce: string;
  readonly errorDetail: Status | undefined;
}

/** `envoy.service.discovery.v3.DeltaDiscoveryRequest`. Absent texts are empty, absent lists and maps too. */
export interface DeltaDiscoveryRequest {
  readonly node: Node | undefined;
  readonly typeUrl: string;
  readonly resourceNamesSubscribe: readonly string[];
  readonly resourceNamesUnsubscribe: readonly string[];
  readonly initialResourceVersions: ReadonlyMap<string, string>;
  readonly responseNonce: string;
  readonly errorDetail: Status | undefined;
}

/** `envoy.service.discovery.v3.DiscoveryResponse`, as a client reads it. */
export interface DiscoveryResponse {
  readonly versionInfo: string;
  readonly resources: readonly PackedMessage[];
  readonly typeUrl: string;
  readonly nonce: string;
  readonly controlPlane: { readonly identifier: string } | undefined;
}

/** One resource of an incremental response. `resource` is undefined when only the name is known to the server. */
export interface DeltaResource {
  readonly name: string;
  readonly version: string;
  readonly aliases: readonly string[];
  readonly resource: PackedMessage | undefined;
}

/** `envoy.service.discovery.v3.DeltaDiscoveryResponse`, as a client reads it. */
export interface DeltaDiscoveryResponse {
  readonly systemVersionInfo: string;
  readonly resources: readonly DeltaResource[];
  readonly typeUrl: string;
  readonly removedResources: readonly string[];
  readonly nonce: string;
  readonly controlPlane: { readonly identifier: string } | undefined;
}

/** What a response says beside its resources. */
export interface ResponseHead {
  readonly typeUrl: string;
  readonly nonce: string;
  /** `control_plane.identifier`; empty or absent: not sent. */
  readonly controlPlane?: string;
  /** Bytes that stay free at the front of the returned buffer, for the header of a transport's frame. Default 0. */
  readonly headroom?: number;
}

export interface ResponseParts extends ResponseHead {
  readonly versionInfo: string;
  readonly resources: readonly EncodedResource[];
}

export interface DeltaResponseParts extends ResponseHead {
  readonly systemVersionInfo: string;
  readonly resources: readonly EncodedResource[];
  readonly removedResources: readonly string[];
}

/** What a client says; absent fields are not sent. */
export interface RequestParts {
  readonly node?: JsonObject;
  readonly versionInfo?: string;
  readonly resourceNames?: readonly string[];
  readonly typeUrl: string;
  readonly responseNonce?: string;
  readonly errorDetail?: { readonly code: number; readonly message: string };
}

export interface DeltaRequestParts {
  readonly node?: JsonObject;
  readonly typeUrl: string;
  readonly resourceNamesSubscribe?: readonly string[];
  readonly resourceNamesUnsubscribe?: readonly string[];
  readonly initialResourceVersions?: Readonly<Record<string, string>>;
  readonly responseNonce?: string;
  readonly errorDetail?: { readonly code: number; readonly message: string };
}

/** @throws DecodeError when the bytes are not such a message */
export function decodeDiscoveryRequest(_bytes: Uint8Array): DiscoveryRequest {
  throw new Error('not ready');
}

/** @throws DecodeError when the bytes are not such a message */
export function decodeDeltaDiscoveryRequest(_bytes: Uint8Array): DeltaDiscoveryRequest {
  throw new Error('not ready');
}

/** @throws DecodeError when the bytes are not such a message */
export function decodeDiscoveryResponse(_bytes: Uint8Array): DiscoveryResponse {
  throw new Error('not ready');
}

/** @throws DecodeError when the bytes are not such a message */
export function decodeDeltaDiscoveryResponse(_bytes: Uint8Array): DeltaDiscoveryResponse {
  throw new Error('not ready');
}

/** @param _request `node` in proto JSON of `envoy.config.core.v3.Node` */
export function encodeDiscoveryRequest(_request: RequestParts): Uint8Array {
  throw new Error('not ready');
}

/** @param _request `node` in proto JSON of `envoy.config.core.v3.Node` */
export function encodeDeltaDiscoveryRequest(_request: DeltaRequestParts): Uint8Array {
  throw new Error('not ready');
}

/** A state-of-the-world response around resources that are encoded already: one allocation, each resource copied once. */
export function encodeDiscoveryResponse(_response: ResponseParts): Buffer {
  return Buffer.alloc(0);
}

/** An incremental response around resources that are encoded already: one allocation, each resource copied once. */
export function encodeDeltaDiscoveryResponse(_response: DeltaResponseParts): Buffer {
  return Buffer.alloc(0);
}
