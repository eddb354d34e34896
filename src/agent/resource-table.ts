import { compareStrings } from '../base/order.ts';
import type { EncodedResource, ResourceSet } from '../proto/resource-set.ts';

/** A set of resources that is changed in place. Who has seen an earlier revision compares all. */
export class ResourceTable implements ResourceSet {
  readonly #resources = new Map<string, EncodedResource>();
  #revision = 0;

  get revision(): number {
    return this.#revision;
  }

  get size(): number {
    return this.#resources.size;
  }

  get(name: string): EncodedResource | undefined {
    return this.#resources.get(name);
  }

  values(): Iterable<EncodedResource> {
    return [...this.#resources.values()].sort((a, b) => compareStrings(a.name, b.name));
  }

  changesSince(revision: number): undefined {
    void revision;
  }

  /** @returns whether anything changed */
  set(resource: EncodedResource): boolean {
    if (this.#resources.get(resource.name)?.version === resource.version) return false;
    this.#resources.set(resource.name, resource);
    this.#revision++;
    return true;
  }

  delete(name: string): boolean {
    const isGone = this.#resources.delete(name);
    if (isGone) this.#revision++;
    return isGone;
  }
}
