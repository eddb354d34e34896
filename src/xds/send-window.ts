import type { Clock } from './limits.ts';

/**
 * Bounds the bytes of responses that are made and not yet taken over by the network. When a thousand clients connect at once to
 * a large mesh, each is owed megabytes of its own: they are made one after the other, as those before them leave, so that memory
 * does not grow with the number of clients. A client that reads nothing takes its share only for a while: then its bytes no
 * longer count, and the others go on.
 *
 * @see istio/istio pilot/pkg/xds/discovery.go, where PILOT_PUSH_THROTTLE bounds the pushes that are made at once
 */
export class SendWindow {
  readonly #maxBytes: number;
  readonly #patienceMs: number;
  readonly #clock: Clock;
  /** First come, first served. */
  readonly #waiting = new Set<() => void>();
  #admitting = false;
  #bytes = 0;

  /**
   * @param maxBytes as many may be under way before others wait; one response may go beyond it
   * @param patienceMs after so long bytes that did not leave do not count
   */
  constructor(maxBytes: number, patienceMs: number, clock: Clock) {
    this.#maxBytes = maxBytes;
    this.#patienceMs = patienceMs;
    this.#clock = clock;
  }

  get full(): boolean {
    return this.#bytes >= this.#maxBytes;
  }

  /** Counts bytes until the returned function is called for the first time. */
  hold(bytes: number): () => void {
    this.#bytes += bytes;
    let held = true;
    const release = (): void => {
      if (!held) return;
      held = false;
      cancel();
      this.#bytes -= bytes;
      this.#admit();
    };
    const cancel = this.#clock.after(this.#patienceMs, release);
    return release;
  }

  /** Calls back once, when there is room. */
  wait(callback: () => void): void {
    this.#waiting.add(callback);
  }

  /** The caller is not interested any more. */
  forget(callback: () => void): void {
    this.#waiting.delete(callback);
  }

  /** One in each turn of the event loop: what is made for it takes time. */
  #admit(): void {
    if (this.#admitting || this.full || this.#waiting.size === 0) return;
    this.#admitting = true;
    setImmediate(() => {
      this.#admitting = false;
      for (const callback of this.#waiting) {
        if (this.full) return;
        this.#waiting.delete(callback);
        callback();
        break;
      }
      this.#admit();
    });
  }
}
