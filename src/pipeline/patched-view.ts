import { cached } from '../base/cached.ts';
import type { ConfigKey } from '../config/config.ts';
import type { CollectionChanges, CollectionView, InputName } from '../derive/graph.ts';
import type { Patch } from '../envoy/patch/patch.ts';
import type { EncodedResource } from '../proto/resource-set.ts';
import type { LeftOut, PatchedResource, Patching } from './patching.ts';

type View = CollectionView<string, EncodedResource>;

/** Configuration objects as inputs of the graph. */
export type InputsOfConfigs = (keys: readonly ConfigKey[]) => readonly InputName[];

/**
 * A view with patches made to what is in it. Only resources that some patch is for are kept, as all others are those of the
 * view below, which scopes with other patches share.
 */
export class PatchedView implements View {
  readonly #base: View;
  readonly #patching: Patching;
  readonly #inputs: InputsOfConfigs;
  /** Of the view below, when it was last looked at. */
  #seen: number | undefined = undefined;
  readonly #patched = new Map<string, PatchedResource>();
  /** How many resources each patch has been made to. */
  readonly #uses = new Map<Patch, number>();

  constructor(base: View, patching: Patching, inputs: InputsOfConfigs) {
    this.#base = base;
    this.#patching = patching;
    this.#inputs = inputs;
  }

  get revision(): number {
    return this.#base.revision;
  }

  get size(): number {
    this.#look();
    let removed = 0;
    for (const { resource } of this.#patched.values()) if (resource === undefined) removed++;
    return this.#base.size - removed;
  }

  get(name: string): EncodedResource | undefined {
    const resource = this.#base.get(name);
    if (resource === undefined) return undefined;
    const patched = this.#patching.of(resource);
    return patched === undefined ? resource : patched.resource;
  }

  has(name: string): boolean {
    return this.get(name) !== undefined;
  }

  *entries(): Iterable<readonly [string, EncodedResource]> {
    for (const [name, resource] of this.#base.entries()) {
      const patched = this.#patching.of(resource);
      if (patched === undefined) yield [name, resource];
      else if (patched.resource !== undefined) yield [name, patched.resource];
    }
  }

  changesSince(revision: number): CollectionChanges<string, EncodedResource> | undefined {
    const changes = this.#base.changesSince(revision);
    if (changes === undefined) return undefined;
    const changed = new Map<string, EncodedResource>();
    const removed = [...changes.removed];
    for (const [name, resource] of changes.changed) {
      const patched = this.#patching.of(resource);
      const now = patched === undefined ? resource : patched.resource;
      if (now === undefined) removed.push(name);
      else changed.set(name, now);
    }
    return { changed, removed: removed.sort() };
  }

  inputsOf(name: string): readonly InputName[] {
    this.#look();
    const sources = [...(this.#patched.get(name)?.applied ?? [])].map(({ source }) => source);
    return [...this.#base.inputsOf(name), ...this.#inputs(sources)];
  }

  /** The patches that are for something in this view. */
  uses(patch: Patch): boolean {
    this.#look();
    return this.#uses.has(patch);
  }

  /** What of the patches could not be made, by the resource. */
  *leftOut(): Iterable<readonly [string, LeftOut]> {
    this.#look();
    for (const [name, { leftOut }] of this.#patched) for (const one of leftOut) yield [name, one];
  }

  #look(): void {
    const { revision } = this.#base;
    if (revision === this.#seen) return;
    const changes = this.#seen === undefined ? undefined : this.#base.changesSince(this.#seen);
    if (changes === undefined) {
      this.#patched.clear();
      this.#uses.clear();
      for (const [name, resource] of this.#base.entries()) this.#note(name, resource);
    } else {
      for (const name of changes.removed) this.#note(name, undefined);
      for (const [name, resource] of changes.changed) this.#note(name, resource);
    }
    this.#seen = revision;
  }

  #note(name: string, resource: EncodedResource | undefined): void {
    const before = this.#patched.get(name);
    const now = resource && this.#patching.of(resource);
    if (before === now) return;
    for (const patch of before?.applied ?? []) {
      const left = (this.#uses.get(patch) ?? 0) - 1;
      if (left > 0) this.#uses.set(patch, left);
      else this.#uses.delete(patch);
    }
    for (const patch of now?.applied ?? []) this.#uses.set(patch, (this.#uses.get(patch) ?? 0) + 1);
    if (now === undefined) this.#patched.delete(name);
    else this.#patched.set(name, now);
  }
}

/** One view for each view below and way of patching. */
export class PatchedViews {
  readonly #inputs: InputsOfConfigs;
  readonly #views = new WeakMap<Patching, WeakMap<View, PatchedView>>();

  constructor(inputs: InputsOfConfigs) {
    this.#inputs = inputs;
  }

  of(base: View, patching: Patching): PatchedView {
    const views = cached(this.#views, patching, () => new WeakMap<View, PatchedView>());
    return cached(views, base, () => new PatchedView(base, patching, this.#inputs));
  }
}
