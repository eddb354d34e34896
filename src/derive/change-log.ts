/** Items that changed together, by whether they had a value before. */
interface Change<I> {
  readonly since: number;
  readonly present: readonly I[];
  readonly absent: readonly I[];
}

const MAX_CHANGES = 32;

/** The last changes of a map, so that a reader who knows an older state need not compare all. */
export class ChangeLog<I> {
  /** Contiguous, oldest first. */
  readonly #changes: Change<I>[] = [];
  #items = 0;

  /**
   * @param since the revision before this change
   * @param present items that had a value before, `absent` those that had none
   * @param size of the map: it bounds the log, for where the log ends, a reader compares at most some four times as much
   */
  add(since: number, present: readonly I[], absent: readonly I[], size: number): void {
    const changes = this.#changes;
    changes.push({ since, present, absent });
    this.#items += present.length + absent.length;
    while (changes.length > MAX_CHANGES || this.#items > 64 + size / 4) {
      const oldest = changes.shift();
      if (oldest === undefined) return;
      this.#items -= oldest.present.length + oldest.absent.length;
    }
  }

  /** The items that changed after `revision`, and whether each had a value then; undefined when the log begins later. */
  since(revision: number): ReadonlyMap<I, boolean> | undefined {
    const first = this.#changes[0];
    if (first === undefined || first.since > revision) return undefined;
    const had = new Map<I, boolean>();
    for (const { since, present, absent } of this.#changes) {
      if (since < revision) continue;
      for (const item of present) if (!had.has(item)) had.set(item, true);
      for (const item of absent) if (!had.has(item)) had.set(item, false);
    }
    return had;
  }
}
