import type { Clock } from '../../src/xds/limits.ts';

/** Time that only tests move. */
export class FakeClock implements Clock {
  #now = 1_000;
  readonly #epoch: number;
  #timers: { readonly at: number; readonly callback: () => void }[] = [];

  /** @param epoch milliseconds since 1970 */
  constructor(epoch: number = 1_700_000_000_000) {
    this.#epoch = epoch;
  }

  now(): number {
    return this.#now;
  }

  date(): number {
    return this.#epoch + this.#now;
  }

  after(ms: number, callback: () => void): () => void {
    const timer = { at: this.#now + ms, callback };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  get timers(): number {
    return this.#timers.length;
  }

  advance(ms: number): void {
    this.#now += ms;
    const due = this.#timers.filter(({ at }) => at <= this.#now);
    this.#timers = this.#timers.filter(({ at }) => at > this.#now);
    for (const { callback } of due) callback();
  }
}
