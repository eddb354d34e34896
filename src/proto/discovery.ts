import { Buffer } from 'node:buffer';
import {
  readDeltaDiscoveryRequest,
  readDeltaDiscoveryResponse,
  readDiscoveryRequest,
  readDiscoveryResponse,
} from '#generated/proto/discovery.ts';
import type { JsonObject } from '../base/json.ts';
import { anySize, Frame, lengthSize, textSize } from './frame.ts';
import { encodeMessage } from './message.ts';
import { Reader } from './reader.ts';
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
  /** Where the buffer comes from, of exactly that size; default `Buffer.allocUnsafe`. */
  readonly allocate?: ((size: number) => Buffer) | undefined;
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
export function decodeDiscoveryRequest(bytes: Uint8Array): DiscoveryRequest {
  return readDiscoveryRequest(new Reader(bytes));
}

/** @throws DecodeError when the bytes are not such a message */
export function decodeDeltaDiscoveryRequest(bytes: Uint8Array): DeltaDiscoveryRequest {
  return readDeltaDiscoveryRequest(new Reader(bytes));
}

/** @throws DecodeError when the bytes are not such a message */
export function decodeDiscoveryResponse(bytes: Uint8Array): DiscoveryResponse {
  return readDiscoveryResponse(new Reader(bytes));
}

/** @throws DecodeError when the bytes are not such a message */
export function decodeDeltaDiscoveryResponse(bytes: Uint8Array): DeltaDiscoveryResponse {
  return readDeltaDiscoveryResponse(new Reader(bytes));
}

/** @throws EncodeError when `node` is no `envoy.config.core.v3.Node` in proto JSON */
export function encodeDiscoveryRequest(request: RequestParts): Uint8Array {
  return encodeMessage('envoy.service.discovery.v3.DiscoveryRequest', request);
}

/** @throws EncodeError when `node` is no `envoy.config.core.v3.Node` in proto JSON */
export function encodeDeltaDiscoveryRequest(request: DeltaRequestParts): Uint8Array {
  return encodeMessage('envoy.service.discovery.v3.DeltaDiscoveryRequest', request);
}

function urlOf({ typeUrl }: EncodedResource, asked: Uint8Array): Uint8Array {
  return typeUrl === undefined ? asked : Buffer.from(typeUrl);
}

/**
 * A `DiscoveryResponse` around resources that are encoded already: one allocation, each resource copied once.
 *
 * @see envoy/service/discovery/v3/discovery.proto for the tags
 */
export function encodeDiscoveryResponse(response: ResponseParts): Buffer {
  const { versionInfo, resources, typeUrl, nonce, controlPlane = '', headroom = 0, allocate } = response;
  const url = Buffer.from(typeUrl);
  const identifier = Buffer.from(controlPlane);
  let size = headroom + textSize(versionInfo) + textSize(typeUrl) + textSize(nonce);
  if (identifier.length > 0) size += lengthSize(lengthSize(identifier.length));
  for (const resource of resources) size += lengthSize(anySize(urlOf(resource, url), resource));
  const frame = new Frame(size, headroom, allocate);
  frame.text(0x0a, versionInfo);
  for (const resource of resources) frame.any(0x12, urlOf(resource, url), resource);
  frame.text(0x22, typeUrl);
  frame.text(0x2a, nonce);
  frame.controlPlane(0x32, identifier);
  return frame.buffer;
}

/** A `DeltaDiscoveryResponse` around resources that are encoded already: one allocation, each resource copied once. */
export function encodeDeltaDiscoveryResponse(response: DeltaResponseParts): Buffer {
  const { systemVersionInfo, resources, removedResources, typeUrl, nonce } = response;
  const { controlPlane = '', headroom = 0, allocate } = response;
  const url = Buffer.from(typeUrl);
  const identifier = Buffer.from(controlPlane);
  let size = headroom + textSize(systemVersionInfo) + textSize(typeUrl) + textSize(nonce);
  if (identifier.length > 0) size += lengthSize(lengthSize(identifier.length));
  const sizes = resources.map(
    (resource) =>
      textSize(resource.version) + lengthSize(anySize(urlOf(resource, url), resource)) + textSize(resource.name),
  );
  for (const resourceSize of sizes) size += lengthSize(resourceSize);
  for (const name of removedResources) size += lengthSize(Buffer.byteLength(name));
  const frame = new Frame(size, headroom, allocate);
  frame.text(0x0a, systemVersionInfo);
  for (const [index, resource] of resources.entries()) {
    frame.head(0x12, sizes[index] as number);
    frame.text(0x0a, resource.version);
    frame.any(0x12, urlOf(resource, url), resource);
    frame.text(0x1a, resource.name);
  }
  frame.text(0x22, typeUrl);
  frame.text(0x2a, nonce);
  for (const name of removedResources) frame.item(0x32, name);
  frame.controlPlane(0x3a, identifier);
  return frame.buffer;
}
