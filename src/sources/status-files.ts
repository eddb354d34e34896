import { existsSync, readdirSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { SourceLog } from './source.ts';

export interface StatusFilesOptions {
  /** Made when there is something to write: `var/lib/istio/status`. */
  readonly directory: string;
  readonly log: SourceLog;
}

/**
 * A file for each object that has a status, written in the background. What is the same already is not written. Failures are
 * logged once, and nothing more: the status is also told over HTTP.
 */
export class StatusFiles {
  readonly #options: StatusFilesOptions;
  /** Texts by path; undefined: the file goes. */
  readonly #pending = new Map<string, string | undefined>();
  #writing: Promise<void> | undefined;
  #hasFailed = false;

  constructor(options: StatusFilesOptions) {
    this.#options = options;
  }

  /** @param path below the directory; @param text undefined deletes the file */
  put(path: string, text: string | undefined): void {
    this.#pending.set(path, text);
    this.#writing ??= this.#write();
  }

  /** Deletes what earlier runs have left, but for these paths. */
  keepOnly(paths: ReadonlySet<string>): void {
    for (const path of this.#present()) if (!paths.has(path)) this.put(path, undefined);
  }

  /** Resolves when all that was put is on disk, or has failed. Never rejects. */
  async flush(): Promise<void> {
    await this.#writing;
  }

  #present(): readonly string[] {
    const { directory } = this.#options;
    if (!existsSync(directory)) return [];
    try {
      const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
      return entries
        .filter((entry) => entry.isFile())
        .map(({ parentPath, name }) => join(parentPath, name).slice(directory.length + 1));
    } catch (error) {
      this.#failed(error);
      return [];
    }
  }

  async #write(): Promise<void> {
    for (const [path, text] of this.#pending) {
      this.#pending.delete(path);
      try {
        await this.#writeFile(join(this.#options.directory, path), text);
      } catch (error) {
        this.#failed(error);
      }
    }
    this.#writing = undefined;
  }

  async #writeFile(file: string, text: string | undefined): Promise<void> {
    if (text === undefined) {
      await rm(file, { force: true });
      return;
    }
    const before = await readFile(file, 'utf8').catch(() => undefined);
    if (before === text) return;
    await mkdir(dirname(file), { recursive: true });
    await writeFile(`${file}.new`, text);
    await rename(`${file}.new`, file);
  }

  #failed(error: unknown): void {
    if (!this.#hasFailed) this.#options.log.warn(`statuses are not written: ${(error as Error).message}`);
    this.#hasFailed = true;
  }
}
