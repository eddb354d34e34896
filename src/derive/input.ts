import type { CellOptions, Index, Input, Key } from './api.ts';
import { Family } from './cell.ts';
import type { Engine } from './engine.ts';
import { compareKeys, sameKeys } from './keys.ts';

/** Keeps the values; a cell exists only for a key that somebody has read. */
export class StoredInput<K extends Key, V> implements Input<K, V> {
  readonly name: string;
  readonly #engine: Engine;
  readonly #same: (a: V | undefined, b: V | undefined) => boolean;
  readonly #values = new Map<K, V>();
  readonly #cells: Family<K, V | undefined>;
  readonly #indexes: StoredIndex<Key, K, V>[] = [];
  #all: Index<'', K> | undefined = undefined;

  constructor(engine: Engine, name: string, { equals = Object.is }: CellOptions<V>) {
    this.name = name;
    this.#engine = engine;
    this.#same = (a, b) => a === b || (a !== undefined && b !== undefined && equals(a, b));
    this.#cells = new Family(engine, name, (key) => this.#values.get(key), { kind: 'input', equals: this.#same });
  }

  get(key: K): V | undefined {
    return this.#cells.get(key);
  }

  set(key: K, value: V | undefined): boolean {
    this.#engine.refuseInDerivation(`the input ${this.name} is set`);
    if (this.#engine.batches === 0) throw new Error(`the input ${this.name} is set outside of a batch`);
    const old = this.#values.get(key);
    if (this.#same(old, value)) return false;
    // All buckets before the first change: their functions come from outside and may throw.
    const moves = this.#indexes.map((index) => index.move(key, old, value));
    if (value === undefined) this.#values.delete(key);
    else this.#values.set(key, value);
    this.#cells.cells.get(key)?.invalidate();
    for (const [i, index] of this.#indexes.entries()) index.apply(key, moves[i] as Move<Key>);
    this.#engine.touched = true;
    return true;
  }

  index<B extends Key>(name: string, buckets: (value: V, key: K) => Iterable<B>): Index<B, K> {
    const index = new StoredIndex<B, K, V>(this.#engine, `${this.name}.${name}`, buckets);
    for (const [key, value] of this.#values) index.apply(key, index.move(key, undefined, value));
    this.#indexes.push(index as unknown as StoredIndex<Key, K, V>);
    return index;
  }

  keys(): readonly K[] {
    this.#all ??= this.index('keys', () => ['']);
    return this.#all.get('');
  }
}

interface Move<B> {
  readonly leaves: Iterable<B>;
  readonly joins: Iterable<B>;
}

const NOWHERE: readonly never[] = [];

class StoredIndex<B extends Key, K extends Key, V> implements Index<B, K> {
  readonly name: string;
  readonly #buckets: (value: V, key: K) => Iterable<B>;
  readonly #members = new Map<B, Set<K>>();
  readonly #cells: Family<B, readonly K[]>;

  constructor(engine: Engine, name: string, buckets: (value: V, key: K) => Iterable<B>) {
    this.name = name;
    this.#buckets = buckets;
    this.#cells = new Family(engine, name, (bucket) => this.#sorted(bucket), { kind: 'input', equals: sameKeys });
  }

  get(bucket: B): readonly K[] {
    return this.#cells.get(bucket);
  }

  /** The change of membership when the value of `key` changes from one to another. Nothing happens before it is applied. */
  move(key: K, from: V | undefined, to: V | undefined): Move<B> {
    const before = from === undefined ? NOWHERE : [...this.#buckets(from, key)];
    const after = to === undefined ? NOWHERE : [...this.#buckets(to, key)];
    // Most objects come or go, and there is nothing to compare.
    if (before.length === 0 || after.length === 0) return { leaves: before, joins: after };
    const left = new Set(before);
    const joined = new Set(after);
    return { leaves: left.difference(joined), joins: joined.difference(left) };
  }

  apply(key: K, { leaves, joins }: Move<B>): void {
    for (const bucket of leaves) {
      const members = this.#members.get(bucket);
      members?.delete(key);
      if (members?.size === 0) this.#members.delete(bucket);
      this.#cells.cells.get(bucket)?.invalidate();
    }
    for (const bucket of joins) {
      const members = this.#members.get(bucket);
      if (members === undefined) this.#members.set(bucket, new Set([key]));
      else members.add(key);
      this.#cells.cells.get(bucket)?.invalidate();
    }
  }

  #sorted(bucket: B): readonly K[] {
    const members = this.#members.get(bucket);
    if (members === undefined) return [];
    const sorted = [...members].sort(compareKeys);
    // Kept in this order, so that the next sorting meets one sorted run and a few newcomers.
    this.#members.set(bucket, new Set(sorted));
    return sorted;
  }
}
