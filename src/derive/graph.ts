import type {
  CellOptions,
  Collection,
  CollectionChanges,
  CollectionSpec,
  CollectionView,
  Derived,
  GraphOptions,
  Input,
  Key,
  Watch,
} from './api.ts';

export type {
  CellOptions,
  Collection,
  CollectionChanges,
  CollectionSpec,
  CollectionView,
  Derived,
  GraphOptions,
  Index,
  Input,
  Key,
  Watch,
} from './api.ts';

const compareKeys = (a: Key, b: Key): number =>
  typeof a === 'string' && typeof b === 'string' ? (a < b ? -1 : a > b ? 1 : 0) : 0;

function sameArray<T>(a: readonly T[] | undefined, b: readonly T[]): readonly T[] {
  return a !== undefined && a.length === b.length && a.every((x, i) => x === b[i]) ? a : b;
}

/** First version: everything is thrown away at each batch. */
export class Graph {
  readonly #options: GraphOptions;
  #revision = 0;
  #tick = 1;
  #depth = 0;
  #running = 0;
  #touched = false;
  #cells = 0;
  readonly #watches = new Set<() => (() => void) | undefined>();

  constructor(options: GraphOptions = {}) {
    this.#options = options;
  }

  get revision(): number {
    return this.#revision;
  }

  get cellCount(): number {
    return this.#cells;
  }

  input<K extends Key, V>(name: string, options: CellOptions<V> = {}): Input<K, V> {
    const values = new Map<K, V>();
    const equals = options.equals ?? Object.is;
    let keys: readonly K[] = [];
    return {
      name,
      get: (key) => values.get(key),
      set: (key, value) => {
        if (this.#depth === 0 || this.#running > 0) throw new Error(`input ${name} is set outside of a batch`);
        const old = values.get(key);
        if (old === value || (old !== undefined && value !== undefined && equals(old, value))) return;
        if (value === undefined) values.delete(key);
        else values.set(key, value);
        this.#touched = true;
        this.#tick++;
      },
      index: (indexName, buckets) => {
        const seen = new Map<Key, readonly K[]>();
        return {
          name: indexName,
          get: (bucket) => {
            const now = [...values]
              .filter(([key, value]) => [...buckets(value, key)].includes(bucket))
              .map(([key]) => key);
            const result = sameArray(seen.get(bucket), now.sort(compareKeys));
            seen.set(bucket, result);
            return result;
          },
        };
      },
      keys: () => {
        keys = sameArray(keys, [...values.keys()].sort(compareKeys));
        return keys;
      },
    };
  }

  derived<K extends Key, V>(name: string, compute: (key: K) => V, options: CellOptions<V> = {}): Derived<K, V> {
    const memo = new Map<K, { tick: number; value: V }>();
    const running = new Set<K>();
    const equals = options.equals ?? Object.is;
    return {
      name,
      get: (key) => {
        const old = memo.get(key);
        if (old?.tick === this.#tick) return old.value;
        if (running.has(key)) throw new Error(`derivations form a cycle: ${name}`);
        running.add(key);
        this.#running++;
        try {
          this.#options.onCompute?.(name, key);
          const next = compute(key);
          const value = old !== undefined && equals(old.value, next) ? old.value : next;
          memo.set(key, { tick: this.#tick, value });
          return value;
        } finally {
          running.delete(key);
          this.#running--;
        }
      },
    };
  }

  collection<K extends Key, I extends Key, V>(name: string, spec: CollectionSpec<K, I, V>): Collection<K, I, V> {
    const equals = spec.equals ?? Object.is;
    const views = new Map<K, CollectionView<I, V>>();
    const open = (key: K): CollectionView<I, V> => {
      let content = new Map<I, V>();
      let revision = 1;
      const log: { revision: number; before: Map<I, V> }[] = [];
      const refreshed = this.derived<string, Map<I, V>>(name, () => {
        const next = new Map<I, V>();
        for (const item of [...new Set(spec.items(key))].sort(compareKeys)) {
          const value = spec.value(item, key);
          const old = content.get(item);
          if (value !== undefined) next.set(item, old !== undefined && equals(old, value) ? old : value);
        }
        if (next.size !== content.size || [...next].some(([item, value]) => content.get(item) !== value)) {
          log.push({ revision, before: content });
          if (log.length > 16) log.shift();
          revision++;
          content = next;
        }
        return content;
      });
      const read = (): Map<I, V> => refreshed.get('');
      return {
        get revision() {
          read();
          return revision;
        },
        get size() {
          return read().size;
        },
        get: (item) => read().get(item),
        has: (item) => read().has(item),
        entries: () => read().entries(),
        changesSince: (since): CollectionChanges<I, V> | undefined => {
          const now = read();
          const before = since === revision ? now : log.find((entry) => entry.revision === since)?.before;
          if (before === undefined) return undefined;
          return {
            changed: new Map([...now].filter(([item, value]) => before.get(item) !== value)),
            removed: [...before.keys()].filter((item) => !now.has(item)),
          };
        },
      };
    };
    const get = (key: K): CollectionView<I, V> => {
      let view = views.get(key);
      if (view === undefined) {
        view = open(key);
        views.set(key, view);
      }
      void view.revision;
      return view;
    };
    return { name, get, item: (key, item) => get(key).get(item) };
  }

  batch<T>(change: () => T): T {
    if (this.#running > 0) throw new Error('a batch in a derivation');
    this.#depth++;
    try {
      return change();
    } finally {
      if (--this.#depth === 0 && this.#touched) {
        this.#touched = false;
        this.#revision++;
        for (const notify of [...this.#watches].map((pull) => pull())) notify?.();
      }
    }
  }

  watch<K extends Key, V>(cell: { get(key: K): V }, key: K, listener?: (value: V) => void): Watch<V> {
    const stampOf = (value: V): unknown =>
      typeof value === 'object' && value !== null && 'changesSince' in value && 'revision' in value
        ? value.revision
        : 0;
    let value = cell.get(key);
    let stamp = stampOf(value);
    const pull = (): (() => void) | undefined => {
      const next = cell.get(key);
      const same = Object.is(next, value) && Object.is(stampOf(next), stamp);
      value = next;
      stamp = stampOf(next);
      return same || listener === undefined ? undefined : () => this.#watches.has(pull) && listener(value);
    };
    this.#watches.add(pull);
    return {
      get value() {
        return cell.get(key);
      },
      stop: () => {
        this.#watches.delete(pull);
      },
    };
  }

  sweep(): number {
    return 0;
  }

  explain<K extends Key>(
    _cell: { readonly name: string; get(key: K): unknown },
    _key: K,
  ): readonly { input: string; key: string }[] {
    return [];
  }
}
