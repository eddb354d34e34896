import { isJsonObject } from '../base/json.ts';
import type { KeySetId } from '../config/key-sets.ts';
import { StateFile, type StateFileOptions } from '../process/state-file.ts';

/** A set of keys as it was fetched last. */
export interface StoredKeySet {
  readonly keys: string;
  /** Milliseconds since 1970. */
  readonly fetchedAt: number;
}

/**
 * Sets of keys in one file, `{"sets": {"keys https://a/b": {"keys": "…", "fetchedAt": 0}}}`, so that a control plane that is
 * started again accepts the tokens that it accepted before, though nobody serves the keys just then. Keys are public.
 */
export class KeySetFile {
  readonly #file: StateFile;

  constructor(options: Pick<StateFileOptions, 'directory' | 'log'>) {
    this.#file = new StateFile({ ...options, name: 'key-sets.json', what: 'keys of tokens' });
  }

  load(): ReadonlyMap<KeySetId, StoredKeySet> {
    const sets = this.#file.load(({ sets: found }) => (isJsonObject(found) ? Object.entries(found) : [])) ?? [];
    return new Map(
      sets.flatMap(([id, set]) => {
        if (!isJsonObject(set)) return [];
        const { keys, fetchedAt } = set;
        return typeof keys === 'string' && typeof fetchedAt === 'number' ? [[id, { keys, fetchedAt }] as const] : [];
      }),
    );
  }

  save(sets: () => ReadonlyMap<KeySetId, StoredKeySet>): void {
    this.#file.save(() => ({ sets: Object.fromEntries(sets()) }));
  }

  /** Resolves when all that was saved is on disk, or has failed. Never rejects. */
  async flush(): Promise<void> {
    await this.#file.flush();
  }
}
