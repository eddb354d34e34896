import { dirname } from 'node:path';
import { contentVersion } from '../base/hash.ts';
import { LIMITS } from '../config/limits.ts';
import { type ParseOptions, parseFile } from '../config/parse.ts';
import { type ParsedFile, parsedFile, unreadFile } from '../config/parsed.ts';
import type { Clock } from '../xds/limits.ts';
import type { FileStamp, FileTree } from './file-tree.ts';
import { fileContent } from './read-file.ts';
import { type Heard, isComplete, patience, unsettled } from './settling.ts';
import { systemReason } from './source.ts';

/** A file as the sink shall have it; undefined when it is gone. */
export interface FileChange {
  readonly file: string;
  readonly parsed: ParsedFile | undefined;
}

interface Known {
  /** Undefined when the file was never read. */
  readonly stamp: FileStamp | undefined;
  readonly hash: string;
  /** What it holds, and what of it the sink has. */
  readonly full: ParsedFile;
  readonly served: ParsedFile;
  /** When it was last complete, its last line had an end. */
  readonly endsLine: boolean;
  /** It was not there when last looked at. */
  readonly isGone: boolean;
}

export interface KnownFilesOptions {
  readonly tree: FileTree;
  readonly parseOptions: (file: string) => ParseOptions;
  readonly clock: Clock;
  /** How long a file must be still before it is believed to lack something, in milliseconds. */
  readonly settle: number;
  /** How long a file must be gone before it is believed to be, in milliseconds; less than `settle`. */
  readonly gather: number;
}

const NEWLINE = 0x0a;
/** Of a file whose content is not known. */
const UNREAD = { hash: '', endsLine: false, isGone: false } as const;

/** The content of the files of a tree, and what of it may be served yet. */
export class KnownFiles {
  readonly #options: KnownFilesOptions;
  readonly #known = new Map<string, Known>();
  /** Files that are looked at again at some time: they may still be written, or may be gone. */
  readonly #due = new Map<string, number>();
  /** Those of them that may still be written. */
  readonly #unsettled = new Set<string>();

  constructor(options: KnownFilesOptions) {
    this.#options = options;
  }

  get names(): Iterable<string> {
    return this.#known.keys();
  }

  /** When the next file is due to be looked at again; undefined when none is. */
  get nextDue(): number | undefined {
    let next: number | undefined;
    for (const at of this.#due.values()) if (next === undefined || at < next) next = at;
    return next;
  }

  takeDue(now: number): readonly string[] {
    const due = [...this.#due].filter(([, at]) => at <= now).map(([file]) => file);
    // What has come is taken before what has gone, as it may be the same.
    return due.sort((a, b) => Number(this.#known.get(a)?.isGone) - Number(this.#known.get(b)?.isGone));
  }

  /** Reads a file for the first time, as it is. */
  first(file: string): FileChange | undefined {
    return this.#read(file, () => true);
  }

  /** Reads a file that has changed, or may have. */
  changed(file: string, heard?: Heard): FileChange | undefined {
    const { clock, settle } = this.#options;
    return this.#read(file, (stamp, before) => isComplete(stamp, before, heard, clock.date(), settle));
  }

  /** Looks again at a file whose time has come: what stood still is taken as it is. */
  due(file: string): FileChange | undefined {
    const { tree, clock } = this.#options;
    const known = this.#known.get(file);
    this.#due.delete(file);
    if (known === undefined) return undefined;
    const isGone = !tree.files.has(file) && !tree.unread.has(file);
    if (!isGone && (this.#content(file)?.hash !== known.hash || tree.files.get(file) !== known.stamp)) {
      return this.changed(file);
    }
    const awaited = this.#awaited(known.served, isGone ? undefined : known.full);
    // Two files that wait for each other come at the same time.
    if (awaited !== undefined && awaited > clock.now()) {
      this.#due.set(file, awaited);
      return undefined;
    }
    return isGone ? this.#remove(file) : this.#serve(file, { ...known, served: known.full });
  }

  /** Reads a file anew, though it has not changed: it means something else now. */
  again(file: string): FileChange | undefined {
    const known = this.#known.get(file);
    if (known !== undefined) this.#known.set(file, { ...known, hash: '' });
    return this.first(file);
  }

  /** Takes at once that a file is gone, if all of its objects are in `keys`: they have moved. */
  moved(file: string, keys: ReadonlySet<string>): FileChange | undefined {
    const known = this.#known.get(file);
    return known?.isGone === true && known.served.configs.every(({ key }) => keys.has(key))
      ? this.#remove(file)
      : undefined;
  }

  #read(file: string, complete: (stamp: FileStamp, before: FileStamp | undefined) => boolean): FileChange | undefined {
    const { tree, parseOptions } = this.#options;
    const known = this.#known.get(file);
    const why = tree.unread.get(file);
    if (why !== undefined) return this.#unread(file, why);
    const stamp = tree.files.get(file);
    const content = stamp && this.#content(file);
    if (content?.why !== undefined) return this.#unread(file, content.why);
    if (stamp === undefined || content === undefined) return this.#gone(file, known);
    if (known?.hash === content.hash) return this.#touched(file, { ...known, stamp, isGone: false });
    const full = parseFile(file, content.bytes, parseOptions(file), known?.hash === '' ? undefined : known?.full);
    const isWhole = complete(stamp, known?.isGone === true ? undefined : known?.stamp);
    const awaited = isWhole ? this.#awaited(known?.served, full) : undefined;
    const part = isWhole && awaited === undefined ? undefined : unsettled(full, known?.served);
    const endsLine = content.bytes.at(-1) === NEWLINE;
    const now = { stamp, hash: content.hash, full, isGone: false };
    if (part === undefined) return this.#serve(file, { ...now, served: full, endsLine });
    const times = patience(full, known?.served, known?.endsLine === true && !endsLine);
    this.#unsettled.add(file);
    this.#due.set(file, awaited ?? this.#options.clock.now() + times * this.#options.settle);
    const isNews = !holdsSame(part, known?.served);
    const served = isNews || known === undefined ? part : known.served;
    this.#known.set(file, { ...now, served, endsLine: known?.endsLine ?? endsLine });
    return isNews ? { file, parsed: part } : undefined;
  }

  /**
   * When it will be known whether an object that would go stands in a file that may still be written; undefined when none
   * does.
   */
  #awaited(served: ParsedFile | undefined, now: ParsedFile | undefined): number | undefined {
    if (this.#unsettled.size === 0 || served === undefined) return undefined;
    const left = new Set(served.configs.map(({ key }) => key));
    for (const { key } of now?.configs ?? []) left.delete(key);
    let last: number | undefined;
    for (const file of left.size === 0 ? [] : this.#unsettled) {
      const holds = this.#known.get(file)?.full.configs.some(({ key }) => left.has(key));
      if (holds === true) last = Math.max(last ?? 0, this.#due.get(file) ?? 0);
    }
    return last;
  }

  #serve(file: string, known: Known): FileChange {
    this.#due.delete(file);
    this.#unsettled.delete(file);
    this.#known.set(file, known);
    return { file, parsed: known.served };
  }

  /** The content is as it was: only what waits for the file to be still waits anew. */
  #touched(file: string, known: Known): undefined {
    this.#known.set(file, known);
    if (known.served === known.full) this.#due.delete(file);
    else this.#due.set(file, Math.max(this.#due.get(file) ?? 0, this.#options.clock.now() + this.#options.settle));
  }

  #gone(file: string, known: Known | undefined): FileChange | undefined {
    if (known === undefined) return this.#options.tree.dangling.has(file) ? this.#remove(file) : undefined;
    if (known.stamp === undefined) return this.#remove(file);
    const { tree, clock, gather, settle } = this.#options;
    if (known.isGone) return undefined;
    // A directory that goes may be about to be replaced.
    const isAlone = tree.hasDirectory(dirname(file)) || known.stamp.directoryId === '';
    this.#unsettled.delete(file);
    this.#known.set(file, { ...known, isGone: true });
    this.#due.set(file, clock.now() + (isAlone ? gather : settle));
    return undefined;
  }

  #remove(file: string): FileChange {
    this.#due.delete(file);
    this.#unsettled.delete(file);
    this.#known.delete(file);
    if (!this.#options.tree.dangling.has(file)) return { file, parsed: undefined };
    // What it led to is gone, and what that held with it.
    const {
      documents: [document],
      namespace,
    } = this.#unreadFile(file, 'the link leads to nothing: correct or remove it');
    const parsed = parsedFile(file, namespace, document === undefined ? [] : [{ ...document, refused: [] }]);
    return this.#serve(file, { ...UNREAD, stamp: undefined, full: parsed, served: parsed });
  }

  #unread(file: string, why: string): FileChange {
    const parsed = this.#unreadFile(file, why);
    const stamp = this.#known.get(file)?.stamp;
    return this.#serve(file, { ...UNREAD, stamp, full: parsed, served: parsed });
  }

  #unreadFile(file: string, why: string): ParsedFile {
    const { namespace } = this.#options.parseOptions(file);
    const location = { file, line: 1, column: 1 };
    const message = `it can not be read: ${why}`;
    return unreadFile(file, namespace, { severity: 'error', code: 'VM0101', location, message });
  }

  #content(file: string): { readonly bytes: Uint8Array; readonly hash: string; readonly why?: string } | undefined {
    try {
      const bytes = fileContent(this.#options.tree.disk(file), LIMITS.fileBytes);
      return bytes && { bytes, hash: contentVersion(bytes) };
    } catch (error) {
      return { bytes: new Uint8Array(), hash: '', why: systemReason(error) ?? String(error) };
    }
  }
}

/** Whether two readings of a file hold the same objects, right ones and refused ones. */
function holdsSame(a: ParsedFile, b: ParsedFile | undefined): boolean {
  const hashes = new Map(b?.configs.map(({ key, hash }) => [key, hash]));
  const sameConfigs = a.configs.length === hashes.size && a.configs.every(({ key, hash }) => hashes.get(key) === hash);
  return sameConfigs && a.refused.length === (b?.refused.length ?? 0);
}
