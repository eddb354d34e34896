import type { Clock } from './limits.ts';

/** Longer than this nothing else of the process waits for clients that ask for much, unless one question takes longer. */
const SLICE_MS = 20;
/** Rounds of the event loop between two slices: each accepts one connection (libuv, `uv__server_io`). */
const ROUNDS = 16;

/**
 * Divides the answering of large questions into turns of the event loop. When a thousand clients connect at once, each question
 * takes a large mesh long enough to be noticed; answered one right after the other, they would keep new connections, changes of
 * files and acknowledgements waiting until the last one is answered.
 */
export class Turns {
  readonly #clock: Clock;
  readonly #waiting: (() => void)[] = [];
  #begun: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Runs now where this turn has time left and nobody waits, else in a later turn, in the order of the calls. */
  run(task: () => void): void {
    if (this.#begun === undefined) this.#begin();
    if (this.#waiting.length > 0 || this.#spent) this.#waiting.push(task);
    else task();
  }

  get #spent(): boolean {
    return this.#begun !== undefined && this.#clock.now() - this.#begun >= SLICE_MS;
  }

  /** A turn ends as soon as everything else has had its own. */
  #begin(): void {
    this.#begun = this.#clock.now();
    this.#wait(ROUNDS);
  }

  #wait(rounds: number): void {
    setImmediate(() => (rounds > 1 ? this.#wait(rounds - 1) : this.#next()));
  }

  #next(): void {
    this.#begun = undefined;
    if (this.#waiting.length === 0) return;
    this.#begin();
    do this.#waiting.shift()?.();
    while (this.#waiting.length > 0 && !this.#spent);
  }
}
