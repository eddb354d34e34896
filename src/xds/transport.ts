import type { Buffer } from 'node:buffer';
import { Metadata, type ServerDuplexStream, status } from '@grpc/grpc-js';

export type StatusName = keyof typeof status;

/** A bidirectional call whose requests are bytes and whose responses are whole gRPC frames. */
export type RawCall = ServerDuplexStream<Buffer, Buffer>;

/** Any call, streaming or not. */
export type AnyCall = Pick<RawCall, 'getPeer' | 'getAuthContext' | 'metadata'>;

/** What is used of the HTTP/2 stream inside a call. */
interface InnerStream {
  readonly destroyed: boolean;
  readonly closed: boolean;
  readonly writableEnded: boolean;
  readonly session: { readonly encrypted?: boolean } | undefined;
  write(frame: Buffer, written: (error?: Error | null) => void): boolean;
  on(event: 'drain' | 'error', listener: () => void): void;
}

/** More than this on its way to a client by `call.write` is congestion: the high-water mark of an HTTP/2 stream. */
const FALLBACK_HIGH_WATER_BYTES = 16 * 1024;

/**
 * Writes frames to one call. grpc-js copies each message for each stream to put five bytes in front of it; a ready frame
 * that is written to the HTTP/2 stream inside the call is copied for none (docs/decisions: gRPC). That stream is a private
 * field: where it is not found, `call.write` does the same more slowly.
 */
export class Transport {
  readonly #call: RawCall;
  readonly #inner: InnerStream | undefined;
  readonly #direct: boolean;
  #metadataSent = false;
  #congested = false;
  #pendingBytes = 0;
  #ended = false;
  #onDrain: () => void = () => {};

  /** @param direct false: `call.write` in any case */
  constructor(call: RawCall, direct: boolean) {
    this.#call = call;
    this.#inner = innerStream(call);
    this.#direct = direct && this.#inner !== undefined;
    if (this.#direct) this.#inner?.on('drain', () => this.#drained());
    // Each error comes with a close, which ends the call; without a listener it would end the process.
    this.#inner?.on('error', () => {});
  }

  /** Whether frames go straight to the HTTP/2 stream. */
  get direct(): boolean {
    return this.#direct;
  }

  get address(): string {
    return this.#call.getPeer();
  }

  /** The same object for calls of the same connection, or its address where that is all that is known. */
  get connection(): object | string {
    return this.#inner?.session ?? this.address;
  }

  /** While true nothing more is to be sent: `onDrain` says when. */
  get congested(): boolean {
    return this.#congested;
  }

  onDrain(listener: () => void): void {
    this.#onDrain = listener;
  }

  /** @param written is called once nobody reads the frame any more; not when the client goes away before that */
  send(frame: Buffer, written: () => void = () => {}): void {
    if (this.#ended) return;
    if (this.#direct && this.#inner !== undefined) {
      if (this.#inner.destroyed || this.#inner.closed || this.#inner.writableEnded) return;
      if (!this.#metadataSent) this.#call.sendMetadata(new Metadata());
      this.#metadataSent = true;
      this.#congested = !this.#inner.write(frame, (error) => {
        if (!error) written();
      });
    } else {
      this.#pendingBytes += frame.length;
      this.#congested = this.#pendingBytes > FALLBACK_HIGH_WATER_BYTES;
      this.#call.write(frame, (error?: Error | null) => {
        this.#pendingBytes -= frame.length;
        if (!error) written();
        if (this.#congested && this.#pendingBytes <= FALLBACK_HIGH_WATER_BYTES) this.#drained();
      });
    }
  }

  /** Ends the call well. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#call.end();
  }

  /** Ends the call with a status; `message` is for the operator of the client. */
  fail(code: StatusName, message: string): void {
    if (this.#ended) return;
    this.#ended = true;
    const details = message.slice(0, 1_024).toWellFormed();
    this.#call.emit('error', Object.assign(new Error(details), { code: status[code], details }));
  }

  #drained(): void {
    this.#congested = false;
    this.#onDrain();
  }
}

/** Whether the call came over TLS, with a client certificate or without. */
export function isEncrypted(call: AnyCall): boolean {
  return innerStream(call)?.session?.encrypted ?? call.getAuthContext().transportSecurityType === 'ssl';
}

/** The HTTP/2 stream below the interceptors of a call. */
function innerStream(call: AnyCall): InnerStream | undefined {
  let at: unknown = (call as { call?: unknown }).call;
  for (let depth = 0; depth < 16 && typeof at === 'object' && at !== null; depth++) {
    const stream = (at as { stream?: unknown }).stream;
    if (isInnerStream(stream)) return stream;
    at = (at as { nextCall?: unknown }).nextCall;
  }
  return undefined;
}

function isInnerStream(value: unknown): value is InnerStream {
  if (typeof value !== 'object' || value === null) return false;
  const { write, on, destroyed, closed, writableEnded, session } = value as Partial<Record<keyof InnerStream, unknown>>;
  return (
    typeof write === 'function' &&
    typeof on === 'function' &&
    typeof destroyed === 'boolean' &&
    typeof closed === 'boolean' &&
    typeof writableEnded === 'boolean' &&
    (session === undefined || typeof session === 'object')
  );
}
