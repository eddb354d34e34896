import { readFileSync } from 'node:fs';
import { appendFile, mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config, ConfigKey } from '../config/config.ts';
import { type LastGoodChanges, type LastGoodCopy, type LastGoodStorage, lastGoodCopy } from '../config/last-good.ts';
import { type Clock, SYSTEM_CLOCK } from '../xds/limits.ts';
import type { SourceLog } from './source.ts';

export interface LastGoodFilesOptions {
  /** Made with mode 0700 when it is not there, as Secrets are among the copies: `var/lib/istio/last-good`. */
  readonly directory: string;
  readonly log: SourceLog;
  readonly clock?: Clock;
  /** Changes are written together after this time. Milliseconds, 1000 by default. */
  readonly delay?: number;
}

/** What a line of the file says: that a copy is there, or, without a text, that it is gone. */
interface Line extends Omit<LastGoodCopy, 'text'> {
  readonly source: string;
  readonly hash: string;
}

const FILE = 'objects.jsonl';
/** So many lines that say nothing any more stay in the file, beside as many as there are copies. */
const MOST_DEAD_LINES = 1000;

/**
 * Last good copies in one file, a line each, to which changes are appended; it is written anew, and renamed into place, when
 * half of it is out of date. A line that was cut off by a crash is passed over. Failures are logged and nothing more: a
 * machine with a read-only disk works, without copies after a restart.
 */
export class LastGoodFiles implements LastGoodStorage {
  readonly #options: Required<LastGoodFilesOptions>;
  readonly #pending = new Map<string, { whole: boolean; put: Map<ConfigKey, Config>; removed: Set<ConfigKey> }>();
  /** Hash and file of each copy that is on disk, by source and key; undefined until it is read. */
  #stored: Map<string, string> | undefined;
  #lines = 0;
  #isAppendable = false;
  #hasFailed = false;
  #cancel: (() => void) | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(options: LastGoodFilesOptions) {
    this.#options = { clock: SYSTEM_CLOCK, delay: 1000, ...options };
  }

  load(source: string): readonly LastGoodCopy[] {
    const copies = new Map<ConfigKey, LastGoodCopy>();
    for (const text of this.#readLines()) {
      const line = parsedLine(text);
      if (line?.source !== source) continue;
      const copy = parsedCopy(text);
      if (copy === undefined) copies.delete(line.key);
      else copies.set(line.key, copy);
    }
    return [...copies.values()];
  }

  save(source: string, { whole, put, removed }: LastGoodChanges): void {
    let pending = this.#pending.get(source);
    if (pending === undefined || whole) {
      pending = { whole: whole || pending?.whole === true, put: new Map(), removed: new Set() };
      this.#pending.set(source, pending);
    }
    for (const config of put) {
      pending.put.set(config.key, config);
      pending.removed.delete(config.key);
    }
    for (const key of removed) {
      pending.put.delete(key);
      pending.removed.add(key);
    }
    this.#cancel ??= this.#options.clock.after(this.#options.delay, () => void this.flush());
  }

  /** Writes what waits. Never rejects. */
  flush(): Promise<void> {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#writing = this.#writing.then(() => this.#write()).catch((error: unknown) => this.#failed(error));
    return this.#writing;
  }

  async #write(): Promise<void> {
    if (this.#pending.size === 0) return;
    const stored = this.#stored ?? this.#index();
    const lines: string[] = [];
    for (const [source, { whole, put, removed }] of this.#pending) {
      const gone = whole ? [...stored.keys()].flatMap((id) => keyOf(id, source, put)) : removed;
      for (const key of gone) {
        if (stored.delete(idOf(source, key))) lines.push(JSON.stringify({ source, key }));
      }
      for (const config of put.values()) {
        const id = idOf(source, config.key);
        const version = `${config.hash} ${config.location.file}`;
        if (stored.get(id) === version) continue;
        stored.set(id, version);
        lines.push(lineOf(source, config));
      }
    }
    this.#pending.clear();
    if (lines.length === 0) return;
    await mkdir(this.#options.directory, { recursive: true, mode: 0o700 });
    this.#lines += lines.length;
    const isWorn = this.#lines > 2 * stored.size + MOST_DEAD_LINES;
    if (this.#isAppendable && !isWorn) await appendFile(this.#path, `${lines.join('\n')}\n`, { mode: 0o600 });
    else await this.#rewrite(lines);
  }

  async #rewrite(added: readonly string[]): Promise<void> {
    const latest = new Map<string, string>();
    for (const text of [...this.#readLines(), ...added]) {
      const line = parsedLine(text);
      if (line === undefined) continue;
      const id = idOf(line.source, line.key);
      if (line.hash === undefined) latest.delete(id);
      else latest.set(id, text);
    }
    const temporary = `${this.#path}.new`;
    const content = [...latest.values()].map((text) => `${text}\n`).join('');
    await writeFile(temporary, content, { mode: 0o600, flush: true });
    await rename(temporary, this.#path);
    this.#lines = latest.size;
    this.#isAppendable = true;
  }

  #index(): Map<string, string> {
    const stored = new Map<string, string>();
    this.#stored = stored;
    for (const text of this.#readLines()) {
      const line = parsedLine(text);
      if (line === undefined) continue;
      this.#lines++;
      if (line.hash === undefined) stored.delete(idOf(line.source, line.key));
      else stored.set(idOf(line.source, line.key), `${line.hash} ${line.file}`);
    }
    return stored;
  }

  #readLines(): readonly string[] {
    let content: string;
    try {
      content = readFileSync(this.#path, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') this.#failed(error);
      return [];
    }
    // What is appended to a line that was cut off would be lost with it.
    if (content.endsWith('\n')) this.#isAppendable = true;
    return content.split('\n').filter((line) => line !== '');
  }

  get #path(): string {
    return join(this.#options.directory, FILE);
  }

  #failed(error: unknown): void {
    if (!this.#hasFailed) {
      this.#options.log.warn(`last good copies are not kept for a restart: ${(error as Error).message}`);
    }
    this.#hasFailed = true;
    // What is on disk is not known any more.
    this.#stored = undefined;
    this.#isAppendable = false;
  }
}

function idOf(source: string, key: ConfigKey): string {
  return `${source}\n${key}`;
}

/** The key of a copy of `source` that is not in `put`. */
function keyOf(id: string, source: string, put: ReadonlyMap<ConfigKey, Config>): readonly ConfigKey[] {
  const key = id.slice(source.length + 1);
  return id.startsWith(`${source}\n`) && !put.has(key) ? [key] : [];
}

const TEXT = ',"text":';

/** The text comes last, so that what a line is about can be read without it. */
function lineOf(source: string, config: Config): string {
  const { text, ...copy } = lastGoodCopy(config);
  return `${JSON.stringify({ source, hash: config.hash, ...copy }).slice(0, -1)}${TEXT}${JSON.stringify(text)}}`;
}

function parsedLine(text: string): (Omit<Line, 'hash'> & { readonly hash?: string }) | undefined {
  const at = text.indexOf(TEXT);
  try {
    return JSON.parse(at === -1 ? text : `${text.slice(0, at)}}`) as Line;
  } catch {
    return undefined;
  }
}

function parsedCopy(text: string): LastGoodCopy | undefined {
  try {
    const { key, file, line, text: document } = JSON.parse(text) as Partial<LastGoodCopy>;
    if (key === undefined || file === undefined || line === undefined || document === undefined) return undefined;
    return { key, file, line, text: document };
  } catch {
    return undefined;
  }
}
