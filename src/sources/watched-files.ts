import { resolve } from 'node:path';
import type { Clock } from '../xds/limits.ts';
import { linkChain } from './link-chain.ts';
import type { SourceLog } from './source.ts';
import { TreeWatches } from './watch.ts';

export interface WatchedFilesOptions {
  /** The directory that paths are relative to. */
  readonly base: string;
  readonly log: SourceLog;
  readonly clock: Clock;
  /** Told of paths that may have changed: what they lead to is to be looked at. */
  readonly changed: (paths: ReadonlySet<string>) => void;
  /** Events are gathered so long, so that files that are replaced together are looked at together. Milliseconds, 20 by default. */
  readonly gather?: number;
  /** How often all files are looked at, in case that an event was lost. Milliseconds, 30,000 by default. */
  readonly rescan?: number;
}

/** So often all files are looked at while a directory can not be watched. Milliseconds. */
const POLL = 2000;

/**
 * Watches single files, wherever they are and whether or not they are there yet: each is watched by its entry in its directory
 * and by the links on the way, so that writing in place, renaming over it and swapping a link are all seen.
 */
export class WatchedFiles {
  readonly #options: Required<WatchedFilesOptions>;
  readonly #watches: TreeWatches;
  readonly #pending = new Set<string>();
  #paths: ReadonlySet<string> = new Set();
  #cancel: (() => void) | undefined;
  #cancelRescan: () => void = () => {};
  #isClosed = false;

  constructor(options: WatchedFilesOptions) {
    this.#options = { gather: 20, rescan: 30_000, ...options };
    const listener = { entry: () => {}, reshaped: () => {}, linked: (path: string) => this.#heard(path) };
    this.#watches = new TreeWatches(options.base, listener, options.log);
    this.#planRescan();
  }

  /** Watches these files from now on, and no others. */
  watch(paths: ReadonlySet<string>): void {
    if (this.#isClosed) return;
    for (const path of this.#paths.difference(paths)) this.#watches.chain(path, []);
    this.#paths = new Set(paths);
    for (const path of paths) this.#follow(path);
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel?.();
    this.#cancelRescan();
    this.#watches.close();
  }

  #follow(path: string): void {
    this.#watches.chain(path, linkChain(resolve(this.#options.base, path)));
  }

  #heard(path: string): void {
    if (!this.#paths.has(path)) return;
    this.#pending.add(path);
    this.#cancel ??= this.#options.clock.after(this.#options.gather, () => this.#tell());
  }

  #tell(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    const paths = new Set(this.#pending);
    this.#pending.clear();
    // Links may lead elsewhere now; what they lead to is watched before it is read.
    for (const path of paths) if (this.#paths.has(path)) this.#follow(path);
    this.#options.changed(paths);
  }

  #planRescan(): void {
    const { clock, rescan } = this.#options;
    this.#cancelRescan = clock.after(this.#watches.isFailing ? Math.min(POLL, rescan) : rescan, () => {
      for (const path of this.#paths) this.#pending.add(path);
      if (this.#pending.size > 0) this.#tell();
      this.#planRescan();
    });
  }
}
