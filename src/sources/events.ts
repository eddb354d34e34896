import type { WatchEvent } from './watch.ts';

/** What was heard of one directory. */
export interface DirectoryEvents {
  readonly names: Map<string, { renames: number; changes: number }>;
  /** Something happened to an entry that is not named. */
  isVague: boolean;
}

/** So long after an entry went away a new one may be it under another name. Milliseconds. */
const DEPARTED_FOR = 50;

/** Watch events until somebody looks at what they are about. */
export class HeardEvents {
  readonly #now: () => number;
  readonly #directories = new Map<string, DirectoryEvents>();
  readonly #linked = new Set<string>();
  readonly #departed = new Map<string, number>();
  #count = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** How many events wait. */
  get size(): number {
    return this.#count;
  }

  entry(directory: string, name: string | undefined, event: WatchEvent): void {
    this.#count++;
    let events = this.#directories.get(directory);
    if (events === undefined) {
      events = { names: new Map(), isVague: false };
      this.#directories.set(directory, events);
    }
    if (name === undefined) {
      events.isVague = true;
      return;
    }
    const heard = events.names.get(name) ?? { renames: 0, changes: 0 };
    if (event === 'rename') heard.renames++;
    else heard.changes++;
    events.names.set(name, heard);
  }

  linked(path: string): void {
    this.#count++;
    this.#linked.add(path);
  }

  /** An entry of the directory, which was no file of the tree, is there no more. */
  departed(directory: string): void {
    this.#departed.set(directory, this.#now());
  }

  hasDeparted(directory: string): boolean {
    const at = this.#departed.get(directory);
    return at !== undefined && this.#now() - at <= DEPARTED_FOR;
  }

  /** What was heard since the last call. */
  take(): { readonly directories: ReadonlyMap<string, DirectoryEvents>; readonly linked: readonly string[] } {
    const taken = { directories: new Map(this.#directories), linked: [...this.#linked] };
    this.#directories.clear();
    this.#linked.clear();
    this.#count = 0;
    for (const directory of this.#departed.keys()) if (!this.hasDeparted(directory)) this.#departed.delete(directory);
    return taken;
  }
}
