import type { ResourceDelta } from '../proto/resource-set.ts';
import type { Answered, SyncState } from './events.ts';
import type { Nack } from './provider.ts';
import { NO_CHANGE } from './snapshot.ts';

/** The newest response of one type and how the client answered. */
export class Exchange {
  #nonce = '';
  #content: ResourceDelta = NO_CHANGE;
  /** Monotonic; undefined when nothing awaits an answer. */
  #awaitedSince: number | undefined;
  #sent: Answered | undefined;
  #acked: Answered | undefined;
  #nack: (Nack & { readonly at: number }) | undefined;

  /** Empty when nothing was sent. */
  get nonce(): string {
    return this.#nonce;
  }

  get sent(): Answered | undefined {
    return this.#sent;
  }

  get acked(): Answered | undefined {
    return this.#acked;
  }

  get nack(): (Nack & { readonly at: number }) | undefined {
    return this.#nack;
  }

  get awaitedSince(): number | undefined {
    return this.#awaitedSince;
  }

  /** What the newest response held, while it is not answered. */
  get content(): ResourceDelta {
    return this.#content;
  }

  get state(): SyncState {
    if (this.#awaitedSince !== undefined) return 'pending';
    if (this.#nack !== undefined) return 'nacked';
    return this.#sent === undefined ? 'unsent' : 'synced';
  }

  send(sent: Answered, content: ResourceDelta, now: number): void {
    this.#nonce = sent.nonce;
    this.#sent = sent;
    this.#content = content;
    this.#awaitedSince = now;
  }

  /** Returns how long the answer took in milliseconds, undefined when the response was answered before. */
  ack(at: number, now: number): number | undefined {
    const since = this.#awaitedSince;
    if (since === undefined || this.#sent === undefined) return undefined;
    this.#acked = { ...this.#sent, at };
    this.#nack = undefined;
    this.abandon();
    return now - since;
  }

  refuse(nack: Nack, at: number): void {
    this.#nack = { ...nack, at };
    this.abandon();
  }

  /** No answer is awaited any more. */
  abandon(): void {
    this.#awaitedSince = undefined;
    this.#content = NO_CHANGE;
  }
}
