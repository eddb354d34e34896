import { cached } from '../base/cached.ts';
import type { Collection, CollectionChanges, CollectionView, InputName, Key } from '../derive/graph.ts';
import { emptyView } from './fixed-view.ts';

type View<V> = CollectionView<string, V>;

interface Parts<V> {
  readonly views: readonly View<V>[];
  readonly revisions: readonly number[];
}

/** Names that changed from one state of a view to another; shared by all unions that it is a part of. */
type Moves = WeakMap<
  View<unknown>,
  { readonly from: number; readonly to: View<unknown>; readonly revision: number; readonly names: readonly string[] }
>;

/**
 * For each key the union of views that others share: a wide one that many keys have, and narrow ones of their own. Names are in
 * one view only. Which views they are may change; the union's own view stays the same object all the same.
 *
 * @param views of a key; read through the graph
 */
export function unionCollection<K extends Key & object, V>(
  name: string,
  views: (key: K) => readonly View<V>[],
  equals: (a: V, b: V) => boolean,
): Collection<K, string, V> {
  const moves: Moves = new WeakMap();
  const unions = new WeakMap<K, UnionView<V>>();
  const get = (key: K): UnionView<V> => {
    const union = cached(unions, key, () => new UnionView(() => views(key), equals, moves));
    // Whoever asks for the view depends on its content.
    void union.revision;
    return union;
  };
  return { name, get, item: (key, item) => get(key).get(item) };
}

const MAX_CHANGES = 32;

class UnionView<V> implements CollectionView<string, V> {
  readonly #views: () => readonly View<V>[];
  readonly #equals: (a: V, b: V) => boolean;
  readonly #moves: Moves;
  #revision = 0;
  #parts: Parts<V> = { views: [], revisions: [] };
  /** What changed between a revision and the next; undefined: not known. Contiguous, oldest first. */
  readonly #log: { readonly since: number; readonly names: readonly string[] | undefined }[] = [];

  constructor(views: () => readonly View<V>[], equals: (a: V, b: V) => boolean, moves: Moves) {
    this.#views = views;
    this.#equals = equals;
    this.#moves = moves;
  }

  get revision(): number {
    this.#refresh();
    return this.#revision;
  }

  get size(): number {
    return this.#refresh().reduce((sum, view) => sum + view.size, 0);
  }

  get(item: string): V | undefined {
    for (const view of this.#refresh()) {
      const value = view.get(item);
      if (value !== undefined) return value;
    }
    return undefined;
  }

  has(item: string): boolean {
    return this.get(item) !== undefined;
  }

  *entries(): Iterable<readonly [string, V]> {
    const rest = this.#refresh().map((view) => view.entries()[Symbol.iterator]());
    const heads = rest.map((entries) => entries.next());
    for (;;) {
      let first = -1;
      for (const [i, { done, value }] of heads.entries()) {
        if (!done && (first < 0 || value[0] < (heads[first]?.value[0] ?? ''))) first = i;
      }
      const head = heads[first];
      const entries = rest[first];
      if (head === undefined || entries === undefined) return;
      yield head.value;
      heads[first] = entries.next();
    }
  }

  changesSince(revision: number): CollectionChanges<string, V> | undefined {
    this.#refresh();
    if (revision === this.#revision) return { changed: new Map(), removed: [] };
    const start = this.#log.findIndex(({ since }) => since === revision);
    if (start < 0) return undefined;
    const names = new Set<string>();
    for (const change of this.#log.slice(start)) {
      if (change.names === undefined) return undefined;
      for (const name of change.names) names.add(name);
    }
    const changed = new Map<string, V>();
    const removed: string[] = [];
    for (const name of [...names].sort()) {
      const value = this.get(name);
      if (value === undefined) removed.push(name);
      else changed.set(name, value);
    }
    return { changed, removed };
  }

  inputsOf(item: string): readonly InputName[] {
    return this.#refresh().flatMap((view) => view.inputsOf(item));
  }

  /** Looks at the parts as they are now; what they changed is noted at once, since later nobody may know. */
  #refresh(): readonly View<V>[] {
    const views = this.#views();
    const revisions = views.map(({ revision }) => revision);
    const before = this.#parts;
    const same =
      views.length === before.views.length &&
      views.every((view, i) => view === before.views[i] && revisions[i] === before.revisions[i]);
    if (same) return views;
    const names = before.views.length === 0 ? undefined : this.#changes(before, views, revisions);
    this.#parts = { views, revisions };
    if (names?.length === 0) return views;
    this.#log.push({ since: this.#revision, names });
    if (this.#log.length > MAX_CHANGES) this.#log.shift();
    this.#revision++;
    return views;
  }

  #changes(before: Parts<V>, views: readonly View<V>[], revisions: readonly number[]): readonly string[] | undefined {
    const nothing = emptyView<V>();
    const names: string[] = [];
    for (let i = 0; i < Math.max(before.views.length, views.length); i++) {
      const view = views[i] ?? nothing;
      const old = before.views[i] ?? nothing;
      const from = before.revisions[i] ?? nothing.revision;
      const revision = revisions[i] ?? nothing.revision;
      if (old === view && from === revision) continue;
      const moved = this.#moved(old, from, view, revision);
      if (moved === undefined) return undefined;
      names.push(...moved);
    }
    return names;
  }

  #moved(old: View<V>, from: number, view: View<V>, revision: number): readonly string[] | undefined {
    const known = this.#moves.get(old);
    if (known?.from === from && known.to === view && known.revision === revision) return known.names;
    const changes = old.changesSince(from);
    if (changes === undefined) return undefined;
    const names = new Set([...changes.changed.keys(), ...changes.removed]);
    if (old !== view) {
      for (const [name, value] of old.entries()) {
        const now = view.get(name);
        if (now === undefined || !this.#equals(value, now)) names.add(name);
      }
      for (const [name] of view.entries()) if (!old.has(name)) names.add(name);
    }
    const moved = [...names];
    this.#moves.set(old, { from, to: view, revision, names: moved });
    return moved;
  }
}
