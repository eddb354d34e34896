import { setTimeout as delay } from 'node:timers/promises';

export interface WaitOptions {
  /** What is waited for, as a noun: it ends the message of the error. */
  readonly what: string;
  /** Longest wait in milliseconds; default 10,000. */
  readonly withinMs?: number;
  /** Pause between two looks, in milliseconds; default 20. */
  readonly everyMs?: number;
}

/**
 * Looks again and again until there is something.
 *
 * @param look undefined or false: not yet. What it throws counts as not yet, too, and ends the message when time is up.
 * @throws Error when nothing came within the time
 */
export async function waitFor<T>(
  look: () => T | undefined | false | Promise<T | undefined | false>,
  { what, withinMs = 10_000, everyMs = 20 }: WaitOptions,
): Promise<T> {
  const deadline = performance.now() + withinMs;
  let last = '';
  for (;;) {
    try {
      const found = await look();
      if (found !== undefined && found !== false) return found;
    } catch (error) {
      last = `: ${error instanceof Error ? error.message : String(error)}`;
    }
    if (performance.now() >= deadline) throw new Error(`no ${what} within ${withinMs} ms${last}`);
    await delay(everyMs);
  }
}
