import type { Node } from '../proto/discovery.ts';
import type { Ack, Nack, Peer } from './provider.ts';

export type Variant = 'sotw' | 'delta';

/** A stream that has said who it is. */
export interface StreamInfo {
  /** Counts from 1 over all streams of the server. */
  readonly id: number;
  /** The session's id: the proxy. */
  readonly proxy: string;
  readonly node: Node;
  readonly peer: Peer;
  readonly variant: Variant;
  /** The type of a single-type stream; undefined on an aggregated one. */
  readonly onlyType: string | undefined;
  /** Milliseconds since the epoch. */
  readonly since: number;
}

/** A response as it was handed to the transport. */
export interface Push {
  readonly typeUrl: string;
  readonly nonce: string;
  readonly version: string;
  readonly resources: number;
  readonly removed: number;
  /** With the five bytes of the gRPC frame. */
  readonly bytes: number;
  /** Whether the bytes were made for this stream, or were there because another stream was sent the same. */
  readonly shared: boolean;
  /** Whether they went through `call.write` because the stream inside grpc-js was not found. */
  readonly fallback: boolean;
}

/** Why a call or a stream was ended by the server. */
export interface Rejection {
  readonly peer: string;
  readonly proxy: string | undefined;
  /** A gRPC status name. */
  readonly code: string;
  readonly message: string;
}

/**
 * What the server tells whoever logs and counts; all optional, none may throw. They are called in the middle of protocol
 * work: note what they say and return.
 */
export interface DiscoveryEvents {
  onStreamOpen?(stream: StreamInfo): void;
  onStreamClose?(stream: StreamInfo, reason: string): void;
  /** Sets of the stream have changed; what is owed and may be sent now follows at once. */
  onChange?(stream: StreamInfo): void;
  onPush?(stream: StreamInfo, push: Push): void;
  /** `latencyMs`: from handing the response over to reading the answer. */
  onAck?(stream: StreamInfo, typeUrl: string, ack: Ack, latencyMs: number): void;
  onNack?(stream: StreamInfo, typeUrl: string, nack: Nack): void;
  /** A call refused or a stream ended because of what the client did, or because the provider refused it. */
  onReject?(rejection: Rejection): void;
  /** A client asked for a type that the provider does not serve; once per stream and type. */
  onUnservedType?(stream: StreamInfo, typeUrl: string): void;
  /** A client sends more requests than it may; its next ones are read later. */
  onThrottle?(stream: StreamInfo, delayMs: number): void;
  /** The provider threw. A bug: the stream is ended with INTERNAL, the others go on. */
  onError?(error: unknown, stream: StreamInfo | undefined): void;
}

export type SyncState = 'unsent' | 'pending' | 'synced' | 'nacked';

/** One type of one stream, for /debug/syncz. */
export interface TypeStatus {
  readonly typeUrl: string;
  /** `pending`: sent and not answered yet. `nacked`: the last answer was a refusal. */
  readonly state: SyncState;
  readonly wildcard: boolean;
  readonly subscribed: number;
  readonly sent: Answered | undefined;
  readonly acked: Answered | undefined;
  readonly nack: (Nack & { readonly at: number }) | undefined;
  /** Resources that this client refused and that have not changed since. */
  readonly withheld: number;
}

/** A response and when it was sent or answered, in milliseconds since the epoch. */
export interface Answered extends Ack {
  readonly at: number;
}

export interface StreamStatus extends StreamInfo {
  readonly types: readonly TypeStatus[];
}
