import type {
  CellOptions,
  Collection,
  CollectionSpec,
  Derived,
  GraphOptions,
  Input,
  InputName,
  Key,
  PartsSpec,
  Watch,
} from './api.ts';
import { Family } from './cell.ts';
import { ofItems, ofParts, StoredCollection } from './collection.ts';
import { Engine } from './engine.ts';
import { inputsBelow } from './explain.ts';
import { StoredInput } from './input.ts';
import { type Target, type WatchCell, WatchFamily } from './watch.ts';

export type * from './api.ts';

/** After so many batches, or so many cells that lost their last reader, unreachable cells are dropped. */
const SWEEP_AFTER = { batches: 64, loose: 1024 };

/**
 * Values derived from inputs, kept up to date with as little work as a change needs.
 *
 * A derivation is a function that reads inputs and other derivations through `get`; what it read is what it depends on.
 * Nothing runs unless it is read or watched. After a batch of changes only those derivations run again that read something
 * which is no longer equal to what it was. A derivation must be synchronous and must not read anything else that can change.
 *
 * Cells are dropped some time after the last watch that reached them has stopped; a read without a watch computes them anew.
 */
export class Graph {
  readonly #engine: Engine;
  readonly #watches: WatchFamily;
  #revision = 0;
  #lastWatch = 0;
  #settling = false;
  #unswept = 0;

  constructor(options: GraphOptions = {}) {
    this.#engine = new Engine(options);
    this.#watches = new WatchFamily(this.#engine);
  }

  /** Grows by one with each batch that changed an input. */
  get revision(): number {
    return this.#revision;
  }

  /** Cells in memory, for metrics: one per key that was read of an input, index or derivation, one per item and watch. */
  get cellCount(): number {
    return this.#engine.cellCount;
  }

  input<K extends Key, V>(name: string, options: CellOptions<V> = {}): Input<K, V> {
    return new StoredInput<K, V>(this.#engine, name, options);
  }

  derived<K extends Key, V>(name: string, compute: (key: K) => V, options: CellOptions<V> = {}): Derived<K, V> {
    return new Family<K, V>(this.#engine, name, compute, options);
  }

  collection<K extends Key, I extends Key, V>(name: string, spec: CollectionSpec<K, I, V>): Collection<K, I, V> {
    return new StoredCollection<K, I, V>(this.#engine, name, ofItems(spec));
  }

  /** A collection whose listing says of each item what it is made from. */
  collectionOfParts<K extends Key, I extends Key, P, V>(
    name: string,
    spec: PartsSpec<K, I, P, V>,
  ): Collection<K, I, V> {
    return new StoredCollection<K, I, V>(this.#engine, name, ofParts(spec));
  }

  /**
   * Runs `change`, which may set inputs; then brings all watches up to date, and then tells those listeners whose value has
   * changed, oldest watch first. A batch within a batch is part of it; one that a listener makes is settled after the
   * listeners of this one.
   *
   * @throws when all of this is done, what `change` (what it had set before stays set), watched derivations and listeners
   * threw: the error, or an AggregateError of several
   */
  batch<T>(change: () => T): T {
    this.#engine.refuseInDerivation('a batch');
    const errors = new Set<unknown>();
    let result: T | undefined;
    this.#engine.batches++;
    try {
      result = change();
    } catch (error) {
      errors.add(error);
    }
    if (--this.#engine.batches === 0 && this.#engine.touched) this.#settle(errors);
    if (errors.size > 1)
      throw new AggregateError(errors, `${errors.size} errors in a batch, its derivations and listeners`);
    for (const error of errors) throw error;
    return result as T;
  }

  /**
   * Keeps `cell` of `key` alive and fresh until it is stopped.
   *
   * @param listener called after each batch that changed the value; for a view: its content
   * @throws what the derivation threw; there is no watch then
   */
  watch<K extends Key, V>(cell: { get(key: K): V }, key: K, listener?: (value: V) => void): Watch<V> {
    const watch = this.#openWatch(cell, key, listener);
    try {
      watch.fresh();
    } catch (error) {
      watch.stop();
      throw error;
    }
    watch.hush();
    return watch as Watch<V>;
  }

  /**
   * Drops cells that no watch reaches. Batches do it now and then.
   *
   * @returns how many cells were dropped
   */
  sweep(): number {
    this.#engine.refuseInDerivation('a sweep');
    this.#unswept = 0;
    return this.#engine.sweep();
  }

  /** The inputs and index buckets that a cell depends on, sorted by name and key; objects as keys are shown as JSON. */
  explain<K extends Key>(cell: { get(key: K): unknown }, key: K): readonly InputName[] {
    const watch = this.#openWatch(cell, key);
    watch.refresh();
    const inputs = inputsBelow(watch);
    watch.stop();
    return inputs;
  }

  #openWatch<K extends Key, V>(cell: { get(key: K): V }, key: K, listener?: (value: V) => void): WatchCell {
    this.#engine.refuseInDerivation('a watch');
    const target = { order: ++this.#lastWatch, cell, key, listener } as Target;
    return this.#watches.cell(target) as WatchCell;
  }

  #settle(errors: Set<unknown>): void {
    this.#engine.touched = false;
    this.#revision++;
    if (this.#settling) return;
    this.#settling = true;
    const attempt = (act: () => void): void => {
      try {
        act();
      } catch (error) {
        errors.add(error);
      }
    };
    const { due } = this.#watches;
    while (due.size > 0) {
      const watches = [...due].sort((a, b) => a.target.order - b.target.order);
      due.clear();
      this.#engine.verified.clear();
      for (const watch of watches) attempt(() => watch.refresh());
      for (const watch of watches) attempt(() => watch.tell());
    }
    this.#settling = false;
    if (++this.#unswept >= SWEEP_AFTER.batches || this.#engine.loose.size >= SWEEP_AFTER.loose) this.sweep();
  }
}
