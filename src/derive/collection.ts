import type { Collection, CollectionSpec, CollectionView, Key, PartsSpec } from './api.ts';
import { type Cell, Family } from './cell.ts';
import type { Engine } from './engine.ts';
import { type Listing, listing, orderedKeys, sameListing } from './keys.ts';
import { View } from './view.ts';

/** How a view comes to its items, in the one form that both kinds of collections take. */
export interface ViewSpec<K extends Key, I extends Key, V> {
  readonly list: (key: K) => Listing<I>;
  readonly value: (item: I, part: unknown, key: K) => V | undefined;
  readonly equals: ((a: V, b: V) => boolean) | undefined;
}

export function ofItems<K extends Key, I extends Key, V>(spec: CollectionSpec<K, I, V>): ViewSpec<K, I, V> {
  const known = new WeakSet<readonly I[]>();
  return {
    list: (key) => ({ items: orderedKeys(spec.items(key), known), parts: undefined }),
    value: (item, _part, key) => spec.value(item, key),
    equals: spec.equals,
  };
}

export function ofParts<K extends Key, I extends Key, P, V>(spec: PartsSpec<K, I, P, V>): ViewSpec<K, I, V> {
  return {
    list: (key) => listing(spec.parts(key)),
    value: (item, part, key) => spec.value(item, part as P, key),
    equals: spec.equals,
  };
}

/** The views of a collection, and the listings below them. */
export class StoredCollection<K extends Key, I extends Key, V>
  extends Family<K, CollectionView<I, V>>
  implements Collection<K, I, V>
{
  readonly #spec: ViewSpec<K, I, V>;
  readonly #lists: Family<K, Listing<I>>;

  constructor(engine: Engine, name: string, spec: ViewSpec<K, I, V>) {
    super(engine, name, (key) => this.#view(key));
    this.#spec = spec;
    this.#lists = new Family(engine, `${name}.items`, spec.list, { equals: sameListing });
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
