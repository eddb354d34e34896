import type { EncodedResource, ResourceDelta } from '../proto/resource-set.ts';
import { Refusals } from './refusals.ts';
import { EMPTY_SNAPSHOT, resourceAmong, resourceIn, type Snapshot, type Snapshots } from './snapshot.ts';

const NO_BYTES = new Uint8Array(0);

/** Of what a client has in no version that is known: no resource has this version. */
export const UNKNOWN_VERSION = '';

/**
 * What a client has of one type: a shared snapshot, and the little in which this client differs from it.
 */
export class Holdings {
  #base: Snapshot = EMPTY_SNAPSHOT;
  #claimed: ReadonlyMap<string, string> | undefined;
  readonly #lingering = new Map<string, EncodedResource>();
  readonly #refusals = new Refusals();
  /** Refused, and gone now: the client has something older under these names, or nothing. */
  readonly #doubted = new Set<string>();
  #accepted: readonly EncodedResource[] = [];

  /** The snapshot that the client was brought to. */
  get base(): Snapshot {
    return this.#base;
  }

  /** Whether the client was brought to this very snapshot, and nothing is left to be told. */
  settledAt(to: Snapshot): boolean {
    return this.#base === to && this.#claimed === undefined && this.#lingering.size === 0;
  }

  /** Gone from the snapshot, and still with the client until its removal may be told. */
  get lingering(): ReadonlyMap<string, EncodedResource> {
    return this.#lingering;
  }

  get refusals(): Refusals {
    return this.#refusals;
  }

  /** The client reconnects and says what it has (`initial_resource_versions`). */
  claim(versions: ReadonlyMap<string, string>): void {
    if (versions.size > 0) this.#claimed = versions;
  }

  /** What brings the client to `to`, leaving aside what lingers. */
  difference(to: Snapshot, snapshots: Snapshots): ResourceDelta {
    return this.#claimed === undefined ? snapshots.difference(this.#base, to) : sinceClaimed(this.#claimed, to);
  }

  /** Whether the client has this very version, though the snapshot once lost it. */
  lingersAs({ name, version }: EncodedResource): boolean {
    return this.#lingering.get(name)?.version === version;
  }

  /** Ends refusals that a change has overtaken. Returns the names that are to be sent again. */
  release(to: Snapshot): readonly string[] {
    if (this.#refusals.size === 0 && this.#doubted.size === 0) return [];
    const names = new Set([...this.#refusals.release(to), ...this.#doubted]);
    this.#doubted.clear();
    for (const name of names) {
      if (resourceIn(to, name) !== undefined) continue;
      // Gone since before: the client refused to remove it, and is told again.
      if (resourceIn(this.#base, name) === undefined) continue;
      this.#doubted.add(name);
      names.delete(name);
    }
    return [...names];
  }

  /** What the client has under a name that is about to linger; undefined for nothing that could be sent to it. */
  remnant(name: string): EncodedResource | undefined {
    return this.#doubted.has(name) ? this.accepted(name) : resourceIn(this.#base, name);
  }

  /**
   * Everything of `to` is sent, or withheld for good reason.
   * @param untold names whose removal the client was not told: they linger
   */
  moveTo(to: Snapshot, untold: readonly string[] | undefined): void {
    if (untold === undefined) this.#lingering.clear();
    else {
      for (const name of untold) {
        if (!this.#lingering.has(name)) this.#lingering.set(name, this.remnant(name) ?? this.#unknown(name));
      }
      for (const name of this.#lingering.keys()) if (resourceIn(to, name) !== undefined) this.#lingering.delete(name);
    }
    this.#base = to;
    this.#claimed = undefined;
    this.#doubted.clear();
  }

  /** The client took over a response of all resources. */
  accept(resources: readonly EncodedResource[]): void {
    this.#accepted = resources;
  }

  /** What the client last took over under this name, of types that are sent whole. */
  accepted(name: string): EncodedResource | undefined {
    return resourceAmong(this.#accepted, name);
  }

  #unknown(name: string): EncodedResource {
    return { name, version: this.#claimed?.get(name) ?? UNKNOWN_VERSION, bytes: NO_BYTES };
  }
}

function sinceClaimed(claimed: ReadonlyMap<string, string>, to: Snapshot): ResourceDelta {
  return {
    changed: to.whole.changed.filter(({ name, version }) => claimed.get(name) !== version),
    removed: [...claimed.keys()].filter((name) => resourceIn(to, name) === undefined).sort(),
  };
}
