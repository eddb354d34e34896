/** Names one cell of a family: a string, or an interned frozen object, compared by identity. */
export type Key = string | object;

export interface GraphOptions {
  /**
   * Recompute every reused cell and compare: a difference throws an error with the cell's name. It finds derivations that
   * read something beside the graph. Slow, for tests.
   */
  readonly paranoid?: boolean;
  /**
   * Told of each run of a derivation: `(name, key)`; of a collection: `(name, item)` for each item that is read and
   * `(name + '.items', key)` for each listing. Not told of the runs that paranoid mode adds.
   */
  readonly onCompute?: (derivation: string, key: Key) => void;
}

/** A value from outside: of an input, or the keys in a bucket of one of its indexes (`input.index`). */
export interface InputName {
  readonly input: string;
  readonly key: string;
}

/** How two values of a cell are compared; cells that read an equal value stay as they are. `Object.is` unless given. */
export interface CellOptions<V> {
  readonly equals?: (a: V, b: V) => boolean;
}

/** Values from outside, set in `Graph.batch`. */
export interface Input<K extends Key, V> {
  readonly name: string;
  get(key: K): V | undefined;
  /**
   * @param value undefined deletes
   * @returns whether it is another value than before
   * @throws outside of a batch, and in a derivation
   */
  set(key: K, value: V | undefined): boolean;
  /**
   * The keys grouped by what `buckets`, a pure function, says of each value. A key may stand in no bucket, or in several.
   */
  index<B extends Key>(name: string, buckets: (value: V, key: K) => Iterable<B>): Index<B, K>;
  /** All keys that have a value, sorted (objects: in the order in which they came). A reader depends on the set of keys, not on the values. */
  keys(): readonly K[];
}

export interface Index<B extends Key, K extends Key> {
  readonly name: string;
  /**
   * The keys in `bucket`, sorted (objects: in the order in which they came). A reader depends on this bucket's membership
   * only: the array stays the same one while it is unchanged.
   */
  get(bucket: B): readonly K[];
}

/** A function of the graph, memoised per key. */
export interface Derived<K extends Key, V> {
  readonly name: string;
  /** @throws what the derivation threw, until something that it read changes */
  get(key: K): V;
}

export interface CollectionSpec<K extends Key, I extends Key, V> {
  /** The items of `key`, in any order, repetitions allowed. An array is kept when it is sorted: it must not change. */
  readonly items: (key: K) => Iterable<I>;
  /** The value of one item; undefined leaves it out. */
  readonly value: (item: I, key: K) => V | undefined;
  readonly equals?: (a: V, b: V) => boolean;
}

/** As `CollectionSpec`, where the listing says what each item is made from. */
export interface PartsSpec<K extends Key, I extends Key, P, V> {
  /**
   * The items of `key`, each with its part: all that is particular to the item, as one object. An item is read again when its
   * part is another object, so that it need not depend on the listing as a whole.
   */
  readonly parts: (key: K) => ReadonlyMap<I, P>;
  readonly value: (item: I, part: P, key: K) => V | undefined;
  readonly equals?: (a: V, b: V) => boolean;
}

/** A map per key of which only the items are read again whose dependencies changed. */
export interface Collection<K extends Key, I extends Key, V> {
  readonly name: string;
  /** The reader depends on the whole view. */
  get(key: K): CollectionView<I, V>;
  /** One item's value, undefined when it is not listed. The reader depends on this item, and no other is computed. */
  item(key: K, item: I): V | undefined;
}

/**
 * The map of one key: the same object for as long as it is watched, and live. Its methods read the graph, so a derivation
 * that calls them depends on the view however it came by it.
 */
export interface CollectionView<I extends Key, V> {
  /** Grows when the content changes, and only then. A view that is made anew begins above all revisions before. */
  readonly revision: number;
  readonly size: number;
  get(item: I): V | undefined;
  has(item: I): boolean;
  /** In order of items; objects stand last, as they were listed. */
  entries(): Iterable<readonly [I, V]>;
  /** What changed after `revision`, merged and sorted; undefined when that is too long ago (the reader then compares all). */
  changesSince(revision: number): CollectionChanges<I, V> | undefined;
  /**
   * The inputs and index buckets that an item is made from, besides the listing; empty when it is not listed. Not for
   * derivations: who reads this depends on nothing.
   */
  inputsOf(item: I): readonly InputName[];
}

export interface CollectionChanges<I extends Key, V> {
  readonly changed: ReadonlyMap<I, V>;
  readonly removed: readonly I[];
}

/** Keeps a cell, and all that it reads, alive and fresh. */
export interface Watch<V> {
  /**
   * Up to date also within a batch; after `stop` the last one.
   *
   * @throws what the derivation threw
   */
  readonly value: V;
  stop(): void;
}
