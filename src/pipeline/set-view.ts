import type { CollectionView } from '../derive/graph.ts';
import type { EncodedResource, ResourceDelta, ResourceSet } from '../proto/resource-set.ts';

/** The set of one scope and type, as the xDS server reads it: a collection with its changes in order of names. */
export class ViewResourceSet implements ResourceSet {
  readonly #view: CollectionView<string, EncodedResource>;
  #revision: number;
  /** The newest delta asked for: every stream of the scope asks for the same one. */
  #delta: { readonly from: number; readonly to: number; readonly delta: ResourceDelta } | undefined;

  constructor(view: CollectionView<string, EncodedResource>) {
    this.#view = view;
    this.#revision = view.revision;
  }

  /** As `moved` found it: each stream asks for it with each request and change, and the graph would have to be asked. */
  get revision(): number {
    return this.#revision;
  }

  /** Called when the content has changed. */
  moved(): void {
    this.#revision = this.#view.revision;
  }

  get size(): number {
    return this.#view.size;
  }

  get(name: string): EncodedResource | undefined {
    return this.#view.get(name);
  }

  *values(): Iterable<EncodedResource> {
    for (const [, resource] of this.#view.entries()) yield resource;
  }

  changesSince(revision: number): ResourceDelta | undefined {
    const to = this.revision;
    if (this.#delta?.from === revision && this.#delta.to === to) return this.#delta.delta;
    const changes = this.#view.changesSince(revision);
    if (changes === undefined) return undefined;
    const changed = [...changes.changed.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
    const delta = { changed, removed: [...changes.removed].sort() };
    this.#delta = { from: revision, to, delta };
    return delta;
  }
}
