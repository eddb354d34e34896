import type { CollectionChanges, CollectionView, InputName } from '../derive/graph.ts';

/** A view of what does not change: who has other content has another view. */
export class FixedView<V> implements CollectionView<string, V> {
  readonly revision: number = 0;
  readonly #entries: ReadonlyMap<string, V>;

  readonly #inputsOf: (name: string) => readonly InputName[];

  /** @param entries by name, in order */
  constructor(entries: ReadonlyMap<string, V>, inputsOf: (name: string) => readonly InputName[] = () => []) {
    this.#entries = entries;
    this.#inputsOf = inputsOf;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(name: string): V | undefined {
    return this.#entries.get(name);
  }

  has(name: string): boolean {
    return this.#entries.has(name);
  }

  entries(): Iterable<readonly [string, V]> {
    return this.#entries;
  }

  changesSince(revision: number): CollectionChanges<string, V> | undefined {
    return revision === 0 ? { changed: new Map(), removed: [] } : undefined;
  }

  inputsOf(name: string): readonly InputName[] {
    return this.#inputsOf(name);
  }
}

/** A view of nothing. */
export function emptyView<V>(): CollectionView<string, V> {
  return EMPTY as CollectionView<string, V>;
}

const EMPTY: CollectionView<string, unknown> = new FixedView(new Map<string, unknown>());
