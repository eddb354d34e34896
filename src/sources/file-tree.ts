import { type Dirent, lstatSync, readdirSync, type Stats, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type ChainEntry, linkChain } from './link-chain.ts';
import { systemReason } from './source.ts';

/** What tells one state of a file from another, but for its content. */
export interface FileStamp {
  readonly size: number;
  /** Milliseconds since 1970, with fractions. */
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  readonly inode: number;
  /** Of the directory that the file was seen in. */
  readonly directoryId: string;
  readonly isLink: boolean;
}

/** Told of each directory before it is read, so that a watch on it misses nothing. */
export interface TreeWatch {
  /** @param id changes when another directory stands in its place */
  directory(path: string, id: string): void;
  gone(path: string): void;
  /** Entries outside of the tree that `path` is reached through; empty when it is no link. */
  chain(path: string, entries: readonly ChainEntry[]): void;
}

interface Directory {
  readonly id: string;
  readonly files: Set<string>;
  readonly directories: Set<string>;
  readonly links: Set<string>;
}

/** Kind of an entry: what readdir or lstat says. */
type EntryKind = Pick<Dirent, 'isDirectory' | 'isSymbolicLink'>;

/** Why something that stands in the tree is not read. */
export type Unread = ReadonlyMap<string, string>;

const CONFIG_NAME = /^[^.].*\.(?:ya?ml|json)$/;
/** What a link may be called that leads to files: as one, or as a directory, which is a namespace. */
const LINK_NAME = /^[^.]*(?:\.(?:ya?ml|json))?$/;
const NO_FILE = 'it is no regular file: remove it, or put a file in its place';
const DEEPEST = 32;
const MOST_DIRECTORIES = 20_000;

/**
 * The configuration files of a directory and all below, and single files beside it, as they were when last looked at.
 * Symbolic links are followed; hidden entries are not files or directories of the tree, but links may lead through them.
 *
 * Paths are those that findings show; `base` is the directory that they begin at.
 */
export class FileTree {
  readonly #base: string;
  readonly #root: string;
  readonly #singles: ReadonlySet<string>;
  readonly #watch: TreeWatch;
  readonly #files = new Map<string, FileStamp>();
  readonly #directories = new Map<string, Directory>();
  readonly #unread = new Map<string, string>();
  readonly #dangling = new Set<string>();
  readonly #changed = new Set<string>();

  constructor(base: string, root: string, singles: readonly string[], watch: TreeWatch) {
    this.#base = base;
    this.#root = root;
    this.#singles = new Set(singles);
    this.#watch = watch;
  }

  /** What files are there, by path. */
  get files(): ReadonlyMap<string, FileStamp> {
    return this.#files;
  }

  get unread(): Unread {
    return this.#unread;
  }

  /** Links that lead to nothing: neither files nor directories, until something is there. */
  get dangling(): ReadonlySet<string> {
    return this.#dangling;
  }

  hasDirectory(path: string): boolean {
    return this.#directories.has(path);
  }

  /** Paths of files that came, went or changed since the last call, and of what could not be read, or can again. */
  takeChanged(): readonly string[] {
    const changed = [...this.#changed];
    this.#changed.clear();
    return changed;
  }

  /** Looks at everything; each step looks at one directory. */
  *lookAtAll(): Generator<void, void> {
    for (const single of this.#singles) this.#lookAtSingle(single);
    this.#watch.chain(this.#root, linkChain(this.disk(this.#root)));
    yield* this.#lookAtDirectory(this.#root);
  }

  /**
   * Looks at one entry of a directory of the tree, and at all below when it is a directory.
   *
   * @returns whether it is there
   */
  lookAt(directory: string, name: string): boolean {
    const path = join(directory, name);
    if (this.#singles.has(path)) this.#lookAtSingle(path);
    const kind = this.#stat(path, lstatSync);
    const parent = this.#directories.get(directory);
    if (parent === undefined || name.startsWith('.')) return kind !== undefined;
    if (kind === undefined) this.#drop(directory, parent, name);
    else if (typeof kind === 'object') this.#takeEntry(directory, parent, name, kind);
    if (parent.directories.has(name)) for (const _ of this.#lookAtDirectory(path));
    return kind !== undefined;
  }

  /** Looks at a directory and all below. */
  lookBelow(directory: string): void {
    for (const _ of this.#lookAtDirectory(directory));
  }

  /** Looks at what is reached through an entry outside of the tree: the root, a single file, or a link in the tree. */
  lookAtLinked(path: string): void {
    if (path === this.#root) for (const _ of this.lookAtAll());
    else this.lookAt(dirname(path), basename(path));
  }

  disk(path: string): string {
    return join(this.#base, path);
  }

  *#lookAtDirectory(path: string): Generator<void, void> {
    const stats = this.#stat(path);
    if (typeof stats === 'string') {
      this.#refuse(path, stats);
      return;
    }
    if (stats === undefined || !stats.isDirectory()) {
      this.#forgetDirectory(path);
      if (stats !== undefined && path === this.#root) this.#refuse(path, systemReason({ code: 'ENOTDIR' }) ?? '');
      return;
    }
    const id = idOf(stats);
    const why = this.#whyNot(path, id);
    if (why !== undefined) {
      this.#forgetDirectory(path);
      this.#refuse(path, why);
      return;
    }
    this.#watch.directory(path, id);
    let entries: readonly Dirent[];
    try {
      entries = readdirSync(this.disk(path), { withFileTypes: true });
    } catch (error) {
      this.#failed(path, error);
      return;
    }
    this.#allow(path);
    this.#take(path, id, entries);
    yield;
    for (const name of this.#directories.get(path)?.directories ?? []) yield* this.#lookAtDirectory(join(path, name));
  }

  #take(path: string, id: string, entries: readonly Dirent[]): void {
    const before = this.#directories.get(path);
    const now: Directory = { id, files: new Set(), directories: new Set(), links: new Set() };
    this.#directories.set(path, now);
    for (const entry of entries) if (!entry.name.startsWith('.')) this.#takeEntry(path, now, entry.name, entry);
    if (before === undefined) return;
    for (const name of before.files) if (!now.files.has(name)) this.#forgetFile(join(path, name));
    for (const name of before.directories) if (!now.directories.has(name)) this.#forgetDirectory(join(path, name));
    for (const name of before.links) if (!now.links.has(name)) this.#forgetLink(join(path, name));
  }

  #takeEntry(directory: string, { id, files, directories, links }: Directory, name: string, kind: EntryKind): void {
    const path = join(directory, name);
    if (kind.isDirectory()) {
      directories.add(name);
      if (files.delete(name)) this.#forgetFile(path);
      return;
    }
    const wasDirectory = directories.delete(name);
    const isLink = kind.isSymbolicLink();
    const isConfig = CONFIG_NAME.test(name);
    if (isLink) {
      links.add(name);
      this.#watch.chain(path, linkChain(this.disk(path)));
    } else if (links.delete(name)) this.#forgetLink(path);
    const stats = isLink || isConfig ? this.#stat(path) : undefined;
    if (isLink) this.#leads(path, stats !== undefined || !LINK_NAME.test(name));
    if (typeof stats === 'object' && stats.isDirectory()) {
      directories.add(name);
      return;
    }
    if (wasDirectory) this.#forgetDirectory(path);
    if (isConfig && stats !== undefined) {
      files.add(name);
      if (typeof stats === 'string') this.#refuse(path, stats);
      else if (stats.isFile()) this.#seen(path, stats, id, isLink);
      else this.#refuse(path, NO_FILE);
    } else if (files.delete(name)) this.#forgetFile(path);
  }

  #drop(directory: string, { files, directories, links }: Directory, name: string): void {
    const path = join(directory, name);
    if (files.delete(name)) this.#forgetFile(path);
    if (directories.delete(name)) this.#forgetDirectory(path);
    if (links.delete(name)) this.#forgetLink(path);
  }

  #forgetLink(path: string): void {
    this.#watch.chain(path, []);
    this.#leads(path, true);
  }

  #leads(path: string, somewhere: boolean): void {
    if (this.#dangling.has(path) !== somewhere) return;
    if (somewhere) this.#dangling.delete(path);
    else this.#dangling.add(path);
    this.#changed.add(path);
  }

  #lookAtSingle(path: string): void {
    this.#watch.chain(path, linkChain(this.disk(path)));
    const stats = this.#stat(path);
    if (typeof stats === 'string') this.#refuse(path, stats);
    else if (stats === undefined) this.#forgetFile(path);
    else if (stats.isFile()) this.#seen(path, stats, '', false);
    else this.#refuse(path, NO_FILE);
  }

  #seen(path: string, stats: Stats, directoryId: string, isLink: boolean): void {
    const { size, mtimeMs, ctimeMs } = stats;
    const stamp: FileStamp = { size, mtimeMs, ctimeMs, inode: stats.ino, directoryId, isLink };
    this.#allow(path);
    const before = this.#files.get(path);
    if (before !== undefined && sameStamp(before, stamp)) return;
    this.#files.set(path, stamp);
    this.#changed.add(path);
  }

  #forgetFile(path: string): void {
    this.#allow(path);
    if (this.#files.delete(path)) this.#changed.add(path);
  }

  #forgetDirectory(path: string): void {
    this.#allow(path);
    const directory = this.#directories.get(path);
    if (directory === undefined) return;
    this.#directories.delete(path);
    this.#watch.gone(path);
    for (const name of directory.files) this.#forgetFile(join(path, name));
    for (const name of directory.directories) this.#forgetDirectory(join(path, name));
    for (const name of directory.links) this.#forgetLink(join(path, name));
  }

  /** Undefined when nothing is there; a text says why it can not be told. */
  #stat(path: string, stat: typeof statSync = statSync): Stats | string | undefined {
    try {
      return stat(this.disk(path), { throwIfNoEntry: false });
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // A path below something that has become a file.
      return code === 'ENOTDIR' ? undefined : (systemReason(error) ?? String(error));
    }
  }

  #failed(path: string, error: unknown): void {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') this.#forgetDirectory(path);
    else this.#refuse(path, systemReason(error) ?? String(error));
  }

  #whyNot(path: string, id: string): string | undefined {
    for (let above = path; above !== this.#root && basename(above) !== ''; ) {
      above = dirname(above);
      if (this.#directories.get(above)?.id === id) return 'a link leads back to a directory above it: remove the link';
    }
    if (path.split('/').length - this.#root.split('/').length > DEEPEST)
      return `it is deeper than ${DEEPEST} directories`;
    const isNew = !this.#directories.has(path);
    return isNew && this.#directories.size >= MOST_DIRECTORIES
      ? `there are ${MOST_DIRECTORIES} others already`
      : undefined;
  }

  #refuse(path: string, why: string): void {
    if (this.#unread.get(path) === why) return;
    this.#unread.set(path, why);
    this.#changed.add(path);
  }

  #allow(path: string): void {
    if (this.#unread.delete(path)) this.#changed.add(path);
  }
}

function idOf({ dev, ino }: Stats): string {
  return `${dev}:${ino}`;
}

export function sameStamp(a: FileStamp, b: FileStamp): boolean {
  return (
    a.size === b.size &&
    a.mtimeMs === b.mtimeMs &&
    a.ctimeMs === b.ctimeMs &&
    a.inode === b.inode &&
    a.directoryId === b.directoryId
  );
}
