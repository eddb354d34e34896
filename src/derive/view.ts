import type { CollectionChanges, CollectionView, InputName, Key } from './api.ts';
import { type AnyFamily, Cell, CHECK, CLEAN, DIRTY, DROPPED, Failure, Family, RUNNING } from './cell.ts';
import { ChangeLog } from './change-log.ts';
import type { ViewSpec } from './collection.ts';
import { inputsBelow } from './explain.ts';
import { compareKeys, indexOfKey, type Listing, movedKeys } from './keys.ts';
import { eachLink, withLink, withoutLink } from './links.ts';

/** The outcome is the item's value; `shown` is the one in the view, until the view is refreshed. */
class ItemCell extends Cell {
  shown: unknown = undefined;
  part: unknown = undefined;

  /** The item is made from something else now. Those who read it have been told by the listing. */
  madeFrom(part: unknown): boolean {
    if (this.part === part) return false;
    this.part = part;
    if (this.state === CLEAN || this.state === CHECK) this.state = DIRTY;
    return true;
  }
}

class ItemFamily<I extends Key, V> extends Family<I, V | undefined> {
  protected override open(item: I): Cell {
    return new ItemCell(this as AnyFamily, item);
  }
}

/** A cell that depends on a listing and on one cell per listed item. It asks only those of them that are suspect. */
export class View<K extends Key, I extends Key, V> extends Cell implements CollectionView<I, V> {
  readonly #collection: Family<K, CollectionView<I, V>>;
  readonly #lists: Family<K, Listing<I>>;
  readonly #items: ItemFamily<I, V>;
  #points: Family<I, V | undefined> | undefined = undefined;
  #list: Cell | undefined = undefined;
  #listed: Listing<I> = { items: [], parts: undefined };
  #size = 0;
  #revision: number;
  readonly #log = new ChangeLog<I>();
  /** Items that have changed since `#revision`, by whether they had a value before. */
  #present: I[] = [];
  #absent: I[] = [];

  constructor(
    collection: Family<K, CollectionView<I, V>>,
    key: K,
    { value, equals }: ViewSpec<K, I, V>,
    lists: Family<K, Listing<I>>,
  ) {
    super(collection as AnyFamily, key);
    const { engine, name } = collection;
    this.#collection = collection;
    this.#lists = lists;
    const partOf = (item: I): unknown => (this.#items.cells.get(item) as ItemCell | undefined)?.part;
    this.#items = new ItemFamily(engine, name, (item: I) => value(item, partOf(item), key), {
      equals: sameItem(equals),
    });
    this.#revision = ++engine.tick;
  }

  get revision(): number {
    return this.#live().#revision;
  }

  get size(): number {
    return this.#live().#size;
  }

  get(item: I): V | undefined {
    return this.#live().#shown(item);
  }

  has(item: I): boolean {
    return this.get(item) !== undefined;
  }

  entries(): Iterable<readonly [I, V]> {
    const view = this.#live();
    const entries: (readonly [I, V])[] = [];
    for (const item of view.#listed.items) {
      const value = view.#shown(item);
      if (value !== undefined) entries.push([item, value]);
    }
    return entries;
  }

  changesSince(revision: number): CollectionChanges<I, V> | undefined {
    const view = this.#live();
    const had = revision === view.#revision ? new Map<I, boolean>() : view.#log.since(revision);
    if (had === undefined) return undefined;
    const changed = new Map<I, V>();
    const removed: I[] = [];
    for (const item of [...had.keys()].sort(compareKeys)) {
      const value = view.#shown(item);
      if (value !== undefined) changed.set(item, value);
      else if (had.get(item) === true) removed.push(item);
    }
    return { changed, removed };
  }

  inputsOf(item: I): readonly InputName[] {
    this.#collection.engine.refuseInDerivation('an item is explained');
    const view = this.#live();
    const cell = view.#shown(item) === undefined ? undefined : view.#items.cells.get(item);
    return cell === undefined ? [] : inputsBelow(cell);
  }

  /** Single items for readers that want no other: undefined for one that is not listed. */
  get points(): Family<I, V | undefined> {
    const { engine, name } = this.#collection;
    const point = (item: I): V | undefined => {
      const { items, parts } = this.#lists.get(this.key as K);
      const at = indexOfKey(items, item);
      if (at < 0) return undefined;
      (this.#items.cell(item) as ItemCell).madeFrom(parts?.[at]);
      return this.#items.get(item);
    };
    this.#points ??= new Family(engine, name, point, { kind: 'step', home: this, equals: this.#items.equals });
    return this.#points;
  }

  override get idle(): boolean {
    return super.idle && (this.#points?.cells.size ?? 0) === 0;
  }

  override *below(): Iterable<Cell> {
    if (this.#list !== undefined) yield this.#list;
    for (const item of this.#listed.items) yield this.#items.cell(item);
  }

  /** This view, or after it was swept the one that has taken its place. */
  #live(): View<K, I, V> {
    return (this.state === DROPPED ? this.#collection.get(this.key as K) : this.read()) as View<K, I, V>;
  }

  #shown(item: I): V | undefined {
    return (this.#items.cells.get(item) as ItemCell | undefined)?.shown as V | undefined;
  }

  protected override validate(): void {
    this.run();
  }

  protected override run(): void {
    const { engine } = this.#collection;
    const depth = engine.running.length;
    let outcome: unknown = this;
    this.state = RUNNING;
    try {
      engine.enter(this);
      this.#relist();
      for (const cell of eachLink(this.suspects)) this.#show(cell as ItemCell, cell.fresh());
      this.suspects = undefined;
    } catch (error) {
      // The suspects stay: one that failed is asked again whenever something else in this view changes.
      outcome = new Failure(error);
    }
    engine.running.length = depth;
    this.state = CLEAN;
    if (engine.paranoid) engine.verified.add(this);
    if (!this.#commit() && outcome === this.outcome) return;
    this.outcome = outcome;
    this.changed();
  }

  #relist(): void {
    this.#list ??= this.#lists.cell(this.key as K);
    this.#list.dependents = withLink(this.#list.dependents, this);
    const listed = this.#list.fresh() as Listing<I>;
    this.suspects = withoutLink(this.suspects, this.#list);
    if (listed === this.#listed) return;
    const { left, joined } = movedKeys(this.#listed.items, listed.items);
    for (const item of left) {
      const cell = this.#items.cell(item) as ItemCell;
      this.#show(cell, undefined);
      this.suspects = withoutLink(this.suspects, cell);
      cell.release(this);
    }
    for (const item of joined) {
      const cell = this.#items.cell(item);
      cell.dependents = withLink(cell.dependents, this);
      this.suspects = withLink(this.suspects, cell);
    }
    this.#listed = listed;
    if (listed.parts !== undefined) this.#remake(listed.items, listed.parts);
  }

  /** Items that are made from something else now are asked again. */
  #remake(items: readonly I[], parts: readonly unknown[]): void {
    for (const [i, item] of items.entries()) {
      const cell = this.#items.cell(item) as ItemCell;
      if (cell.madeFrom(parts[i])) this.suspects = withLink(this.suspects, cell);
    }
  }

  #show(cell: ItemCell, value: unknown): void {
    if (this.#items.equals(cell.shown as V | undefined, value as V | undefined)) return;
    if (cell.shown === undefined) this.#size++;
    if (value === undefined) this.#size--;
    (cell.shown === undefined ? this.#absent : this.#present).push(cell.key as I);
    cell.shown = value;
  }

  /** @returns whether the content has changed since the last call */
  #commit(): boolean {
    if (this.#present.length + this.#absent.length === 0) return false;
    this.#log.add(this.#revision, this.#present.splice(0), this.#absent.splice(0), this.#size);
    this.#revision = ++this.#collection.engine.tick;
    return true;
  }

  protected override verify(): void {
    const { engine } = this.#collection;
    if (engine.verified.has(this)) return;
    engine.verified.add(this);
    for (const cell of this.below()) cell.refresh();
  }

  /** The suspects are asked one by one; there is nothing to run as a whole. */
  protected override dependencyChanged(): void {}
}

function sameItem<V>(equals: (a: V, b: V) => boolean = Object.is): (a: V | undefined, b: V | undefined) => boolean {
  return (a, b) => (a === undefined || b === undefined ? a === b : equals(a, b));
}
