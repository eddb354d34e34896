import type { ChannelOptions } from '@grpc/grpc-js';

/** What a server allows, all with defaults (`DEFAULT_LIMITS`). */
export interface Limits {
  /** Open streams of all clients. Beyond it: RESOURCE_EXHAUSTED. */
  readonly maxStreams: number;
  /** Open streams of one connection. Beyond it: RESOURCE_EXHAUSTED. */
  readonly maxStreamsPerConnection: number;
  /** Bytes of one request. Beyond it: RESOURCE_EXHAUSTED. */
  readonly maxRequestBytes: number;
  /** Types on one aggregated stream. Beyond it: RESOURCE_EXHAUSTED. */
  readonly maxTypes: number;
  /** Names subscribed to, per type and stream. Beyond it: RESOURCE_EXHAUSTED. */
  readonly maxNames: number;
  /** UTF-16 units of one resource name, type URL or node id. Beyond it: INVALID_ARGUMENT. */
  readonly maxNameLength: number;
  /** Requests of one stream: so many a second over time; a client that sends more is read more slowly. */
  readonly requestsPerSecond: number;
  /** Requests of one stream that may come at once: an old Envoy asks for each of its clusters' endpoints in its own request. */
  readonly requestBurst: number;
  /** How long a stream may be open without a first request, in milliseconds. Beyond it: DEADLINE_EXCEEDED. */
  readonly firstRequestMs: number;
  /**
   * How long one response waits for the answer to another, in milliseconds: the next of the same type, and those that come
   * later in the push order. A client that does not answer is served all the same, only later.
   */
  readonly ackPatienceMs: number;
  /** Bytes of encoded responses that are kept to be shared between streams. */
  readonly frameCacheBytes: number;
  /** Bytes of large responses that are under way before the next is made. */
  readonly sendWindowBytes: number;
  /** After so long bytes that have not left do not count any more, in milliseconds: their client reads too slowly, or not at all. */
  readonly sendPatienceMs: number;
}

export const DEFAULT_LIMITS: Limits = {
  maxStreams: 20_000,
  maxStreamsPerConnection: 64,
  maxRequestBytes: 4 * 1024 * 1024,
  maxTypes: 64,
  maxNames: 50_000,
  maxNameLength: 2_048,
  requestsPerSecond: 200,
  requestBurst: 5_000,
  firstRequestMs: 30_000,
  ackPatienceMs: 3_000,
  frameCacheBytes: 16 * 1024 * 1024,
  sendWindowBytes: 64 * 1024 * 1024,
  sendPatienceMs: 10_000,
};

/**
 * Options for the grpc-js server that a `DiscoveryServer` is registered on: a ping after 30 s of silence, so that a client
 * that vanished is noticed within 40 s, and the limits that grpc-js itself watches.
 */
export function serverOptions(limits: Partial<Limits> = {}): ChannelOptions {
  const { maxRequestBytes, maxStreamsPerConnection } = { ...DEFAULT_LIMITS, ...limits };
  return {
    'grpc.keepalive_time_ms': 30_000,
    'grpc.keepalive_timeout_ms': 10_000,
    'grpc.keepalive_permit_without_calls': 1,
    // One more than allowed, so that the client is told why instead of waiting.
    'grpc.max_concurrent_streams': maxStreamsPerConnection + 1,
    'grpc.max_receive_message_length': maxRequestBytes,
    // A response is as large as the mesh.
    'grpc.max_send_message_length': -1,
  };
}

/** Time, so that tests can make it. */
export interface Clock {
  /** Milliseconds, never going back. */
  now(): number;
  /** Milliseconds since the epoch. */
  date(): number;
  /** Calls back after `ms`; the returned function cancels. Does not keep the process alive. */
  after(ms: number, callback: () => void): () => void;
}

export const SYSTEM_CLOCK: Clock = {
  now: () => performance.now(),
  date: () => Date.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/** Lets `burst` things pass at once, and `perSecond` over time. */
export class TokenBucket {
  readonly #perSecond: number;
  readonly #burst: number;
  #tokens: number;
  #at: number;

  constructor(perSecond: number, burst: number, now: number) {
    this.#perSecond = perSecond;
    this.#burst = burst;
    this.#tokens = burst;
    this.#at = now;
  }

  /** Takes one; returns the milliseconds until the next may be taken, 0 when that is now. */
  take(now: number): number {
    this.#tokens = Math.min(this.#burst, this.#tokens + ((now - this.#at) * this.#perSecond) / 1000);
    this.#at = now;
    this.#tokens -= 1;
    return this.#tokens >= 1 ? 0 : Math.ceil(((1 - this.#tokens) * 1000) / this.#perSecond);
  }
}
