import { StartError } from '../process/failure.ts';
import type { Bound } from './listen.ts';
import { DEFAULT_LISTEN, type ListenOption } from './options-schema.ts';

/** Takes one address. @throws StartError when it can not */
export type Opening = readonly [ListenOption, () => Promise<Bound | undefined>];

/** What a server listens on. */
export class Listeners {
  readonly #bound = new Map<ListenOption, Bound>();

  /** Addresses by option, in the order of the options. */
  get addresses(): Readonly<Record<string, string>> {
    const order = Object.keys(DEFAULT_LISTEN);
    const sorted = [...this.#bound].sort(([a], [b]) => order.indexOf(a) - order.indexOf(b));
    return Object.fromEntries(sorted.map(([option, { address }]) => [option, address]));
  }

  /**
   * Takes several addresses.
   * @throws StartError which names all that can not be taken
   */
  async open(openings: readonly (Opening | undefined)[]): Promise<void> {
    const failures: StartError[] = [];
    for (const [option, open] of openings.filter((opening) => opening !== undefined)) {
      try {
        const bound = await open();
        if (bound !== undefined) this.#bound.set(option, bound);
      } catch (error) {
        if (!(error instanceof StartError)) throw error;
        failures.push(error);
      }
    }
    const [first, ...others] = failures;
    if (first === undefined) return;
    const message = [first, ...others].map((failure) => failure.message).join('\n');
    throw others.length === 0 ? first : new StartError(first.exitCode, message, { cause: first });
  }

  /** @param which those to close; all by default */
  async close(which: (option: ListenOption) => boolean = () => true): Promise<void> {
    const closing = [...this.#bound].filter(([option]) => which(option));
    for (const [option] of closing) this.#bound.delete(option);
    await Promise.all(closing.map(([, bound]) => bound.close()));
  }
}
