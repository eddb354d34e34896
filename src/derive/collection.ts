import type { Collection, CollectionSpec, CollectionView, Key } from './api.ts';
import { type Cell, Family } from './cell.ts';
import type { Engine } from './engine.ts';
import { orderedKeys, sameKeys } from './keys.ts';
import { View } from './view.ts';

/** The views of a collection, and the listings below them. */
export class StoredCollection<K extends Key, I extends Key, V>
  extends Family<K, CollectionView<I, V>>
  implements Collection<K, I, V>
{
  readonly #spec: CollectionSpec<K, I, V>;
  readonly #lists: Family<K, readonly I[]>;

  constructor(engine: Engine, name: string, spec: CollectionSpec<K, I, V>) {
    super(engine, name, (key) => this.#view(key));
    this.#spec = spec;
    const known = new WeakSet<readonly I[]>();
    const list = (key: K): readonly I[] => orderedKeys(spec.items(key), known);
    this.#lists = new Family(engine, `${name}.items`, list, { equals: sameKeys });
  }

  item(key: K, item: I): V | undefined {
    return this.#view(key).points.get(item);
  }

  protected override open(key: K): Cell {
    return new View(this, key, this.#spec, this.#lists);
  }

  #view(key: K): View<K, I, V> {
    return this.cell(key) as View<K, I, V>;
  }
}
