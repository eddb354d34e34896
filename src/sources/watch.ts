import { type FSWatcher, statSync, watch } from 'node:fs';
import { join } from 'node:path';
import type { TreeWatch } from './file-tree.ts';
import type { ChainEntry } from './link-chain.ts';
import type { SourceLog } from './source.ts';

/** What the operating system says of an entry: `rename` when it came, went or was replaced, `change` when it was written. */
export type WatchEvent = 'rename' | 'change';

export interface WatchListener {
  /** @param name undefined when it is not known which entry it is */
  entry(directory: string, name: string | undefined, event: WatchEvent): void;
  /** An entry outside of the tree has changed through which `path` is reached. */
  linked(path: string): void;
  /** A directory is watched that was not before, or is not any more. */
  reshaped(): void;
}

interface Watched {
  readonly id: string;
  readonly watcher: FSWatcher | undefined;
}

/** A directory outside of the tree, with the entries in it that matter and the paths that are reached through each. */
interface Outside extends Watched {
  readonly names: Map<string, Set<string>>;
}

/**
 * One watch per directory, of the tree and of those that its links lead through. Watches only say where to look: events are
 * lost when the system's queue overflows.
 */
export class TreeWatches implements TreeWatch {
  readonly #base: string;
  readonly #listener: WatchListener;
  readonly #log: SourceLog;
  readonly #inside = new Map<string, Watched>();
  readonly #outside = new Map<string, Outside>();
  readonly #chains = new Map<string, readonly ChainEntry[]>();
  #isClosed = false;
  #isFailing = false;

  constructor(base: string, listener: WatchListener, log: SourceLog) {
    this.#base = base;
    this.#listener = listener;
    this.#log = log;
  }

  /** Whether a directory could not be watched: changes in it are only found by looking. */
  get isFailing(): boolean {
    return this.#isFailing;
  }

  /** Directories that are watched. */
  get size(): number {
    return this.#inside.size + this.#outside.size;
  }

  directory(path: string, id: string): void {
    const before = this.#inside.get(path);
    if (before?.id === id && before.watcher !== undefined) return;
    before?.watcher?.close();
    const watcher = this.#watch(join(this.#base, path), (event, name) => this.#listener.entry(path, name, event));
    this.#inside.set(path, { id, watcher });
    if (before?.id !== id) this.#listener.reshaped();
  }

  gone(path: string): void {
    const before = this.#inside.get(path);
    if (before === undefined) return;
    before.watcher?.close();
    this.#inside.delete(path);
    this.#listener.reshaped();
  }

  chain(path: string, entries: readonly ChainEntry[]): void {
    const before = this.#chains.get(path) ?? [];
    if (sameEntries(before, entries)) {
      for (const { directory } of entries) this.#watchOutside(directory);
      return;
    }
    for (const { directory, name } of entries) {
      const { names } = this.#watchOutside(directory);
      const paths = names.get(name);
      if (paths === undefined) names.set(name, new Set([path]));
      else paths.add(path);
    }
    if (entries.length === 0) this.#chains.delete(path);
    else this.#chains.set(path, entries);
    for (const entry of before) {
      if (!entries.some((other) => sameEntry(entry, other))) this.#unlink(entry, path);
    }
  }

  close(): void {
    this.#isClosed = true;
    for (const { watcher } of [...this.#inside.values(), ...this.#outside.values()]) watcher?.close();
    this.#inside.clear();
    this.#outside.clear();
    this.#chains.clear();
  }

  #unlink({ directory, name }: ChainEntry, path: string): void {
    const outside = this.#outside.get(directory);
    const paths = outside?.names.get(name);
    paths?.delete(path);
    if (paths?.size === 0) outside?.names.delete(name);
    if (outside?.names.size !== 0) return;
    outside.watcher?.close();
    this.#outside.delete(directory);
  }

  #watchOutside(directory: string): Outside {
    const before = this.#outside.get(directory);
    const id = identity(directory);
    if (before !== undefined && before.id === id && before.watcher !== undefined) return before;
    before?.watcher?.close();
    const names = before?.names ?? new Map<string, Set<string>>();
    const told = (name: string | undefined): void => {
      for (const paths of name === undefined ? names.values() : [names.get(name) ?? []]) {
        for (const path of paths) this.#listener.linked(path);
      }
    };
    const outside: Outside = { id, names, watcher: this.#watch(directory, (_, name) => told(name)) };
    this.#outside.set(directory, outside);
    return outside;
  }

  #watch(directory: string, tell: (event: WatchEvent, name: string | undefined) => void): FSWatcher | undefined {
    if (this.#isClosed) return undefined;
    try {
      const watcher = watch(directory, { persistent: false }, (event, name) => {
        if (!this.#isClosed) tell(event, name ?? undefined);
      });
      watcher.on('error', (error) => {
        watcher.close();
        this.#failed(directory, error);
      });
      return watcher;
    } catch (error) {
      this.#failed(directory, error);
      return undefined;
    }
  }

  #failed(directory: string, error: unknown): void {
    const { code, message } = error as NodeJS.ErrnoException;
    // It went while it was looked at; the directory above tells of it.
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EACCES') return;
    if (!this.#isFailing) {
      const advice = code === 'ENOSPC' ? ': raise fs.inotify.max_user_watches' : '';
      this.#log.warn(`${directory} can not be watched (${message})${advice}; the files are looked at often instead`);
    }
    this.#isFailing = true;
  }
}

/** Of what stands at a path; empty when nothing does. */
function identity(path: string): string {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    return stats === undefined ? '' : `${stats.dev}:${stats.ino}`;
  } catch {
    return '';
  }
}

function sameEntry(a: ChainEntry, b: ChainEntry): boolean {
  return a.directory === b.directory && a.name === b.name;
}

function sameEntries(a: readonly ChainEntry[], b: readonly ChainEntry[]): boolean {
  return a.length === b.length && a.every((entry, i) => sameEntry(entry, b[i] as ChainEntry));
}
