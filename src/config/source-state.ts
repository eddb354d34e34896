import { compareStrings } from '../base/order.ts';
import type { Config, ConfigKey } from './config.ts';
import { type HeldFile, heldFile, type Occurrence } from './held-file.ts';
import type { EarlierCopies } from './last-good.ts';
import type { ParsedFile } from './parsed.ts';
import { namesRevision } from './revision.ts';

/** An object of a source, and the file that it counts from. */
export interface Standing extends Occurrence {
  readonly file: string;
}

/** What the files of one source hold, and which of them each object counts from. */
export class SourceState {
  readonly name: string;
  readonly #files = new Map<string, HeldFile>();
  readonly #filesOf = new Map<ConfigKey, Set<string>>();
  readonly #inForce = new Map<ConfigKey, Standing>();
  /** Asked for only while the first state is taken, and only when something in it is wrong. */
  #earlier: EarlierCopies | undefined;

  constructor(name: string, earlier: EarlierCopies) {
    this.name = name;
    this.#earlier = earlier;
  }

  /** Whether the source has given a whole state. */
  get isSynced(): boolean {
    return this.#earlier === undefined;
  }

  synced(): void {
    this.#earlier = undefined;
  }

  get files(): ReadonlyMap<string, HeldFile> {
    return this.#files;
  }

  get inForce(): ReadonlyMap<ConfigKey, Standing> {
    return this.#inForce;
  }

  filesOf(key: ConfigKey): Iterable<string> {
    return this.#filesOf.get(key) ?? [];
  }

  /**
   * Takes what files hold now.
   *
   * @param changes undefined for a file that is gone
   * @returns the keys of all objects that may count from elsewhere now
   */
  take(changes: ReadonlyMap<string, ParsedFile | undefined>): ReadonlySet<ConfigKey> {
    const touched = new Set<ConfigKey>();
    for (const [file, parsed] of changes) {
      const before = this.#files.get(file);
      for (const key of before?.objects.keys() ?? []) {
        touched.add(key);
        this.#unlist(key, file);
      }
      if (parsed === undefined) {
        this.#files.delete(file);
        continue;
      }
      const held = heldFile(parsed, {
        ofFile: this.#lastGoodOf(file, before),
        ofSource: (key) => this.#inForce.get(key)?.config ?? this.#earlier?.ofKey(key),
      });
      this.#files.set(file, held);
      for (const key of held.objects.keys()) {
        touched.add(key);
        const files = this.#filesOf.get(key);
        if (files === undefined) this.#filesOf.set(key, new Set([file]));
        else files.add(file);
      }
    }
    for (const key of touched) {
      const standing = this.#standing(key);
      if (standing === undefined) this.#inForce.delete(key);
      else this.#inForce.set(key, standing);
    }
    return touched;
  }

  #unlist(key: ConfigKey, file: string): void {
    const files = this.#filesOf.get(key);
    files?.delete(file);
    if (files?.size === 0) this.#filesOf.delete(key);
  }

  /** Read only when a document of the file is refused. */
  *#lastGoodOf(file: string, before: HeldFile | undefined): Generator<Config> {
    if (before !== undefined) for (const { config } of before.objects.values()) yield config;
    else yield* this.#earlier?.ofFile(file) ?? [];
  }

  /**
   * Of the files that have the object the last one by path, those first that have it for this revision alone; one that only may
   * have it counts where there is no other.
   */
  #standing(key: ConfigKey): Standing | undefined {
    const files = [...this.filesOf(key)].sort(compareStrings);
    const standings = files.flatMap((file) => {
      const occurrence = this.#files.get(file)?.objects.get(key);
      return occurrence === undefined ? [] : [{ ...occurrence, file }];
    });
    const known = standings.filter(({ state }) => state !== 'presumed');
    return known.findLast(({ config }) => namesRevision(config)) ?? known.at(-1) ?? standings.at(-1);
  }
}
