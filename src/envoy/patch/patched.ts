import type { Patch } from './patch.ts';

/** An object after all patches. */
export interface Patched<T> {
  /** Absent: it is removed. */
  readonly object?: T;
  /** Those that found in it what they are for. */
  readonly applied: ReadonlySet<Patch>;
}
