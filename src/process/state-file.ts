import { readFileSync, renameSync } from 'node:fs';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isJsonObject, type JsonObject } from '../base/json.ts';

export interface StateFileOptions {
  /** Made when it is not there: `var/lib/istio/vips`. */
  readonly directory: string;
  /** In the directory: `vips.json`. */
  readonly name: string;
  /** What is in it, as a plural noun: `allocated addresses`. */
  readonly what: string;
  readonly log: { warn(message: string): void };
}

/**
 * An object in JSON that outlives the process, written anew and renamed into place at each change; changes that come while it is
 * written go together. A file that is damaged is put aside. Failures are logged and nothing more.
 */
export class StateFile {
  readonly #options: StateFileOptions;
  #next: (() => object) | undefined;
  #writing: Promise<void> | undefined;
  #hasFailed = false;

  constructor(options: StateFileOptions) {
    this.#options = options;
  }

  /** @param read what is in the file, from its object; what it throws means that the file is damaged */
  load<T>(read: (object: JsonObject) => T): T | undefined {
    const text = this.#read();
    if (text === undefined) return undefined;
    try {
      const object: unknown = JSON.parse(text);
      if (!isJsonObject(object)) throw new Error('it holds no object');
      return read(object);
    } catch (error) {
      this.#putAside(error);
      return undefined;
    }
  }

  /** @param object asked for when it is written */
  save(object: () => object): void {
    this.#next = object;
    this.#writing ??= this.#write();
  }

  /** Resolves when all that was saved is on disk, or has failed. Never rejects. */
  async flush(): Promise<void> {
    await this.#writing;
  }

  async #write(): Promise<void> {
    const { directory, what } = this.#options;
    while (this.#next !== undefined) {
      const object = this.#next;
      this.#next = undefined;
      try {
        await mkdir(directory, { recursive: true, mode: 0o700 });
        await writeFile(`${this.#path}.new`, `${JSON.stringify(object(), null, 1)}\n`, { flush: true, mode: 0o600 });
        await rename(`${this.#path}.new`, this.#path);
        this.#hasFailed = false;
      } catch (error) {
        if (!this.#hasFailed) this.#warn(`${what} are not kept for a restart`, error);
        this.#hasFailed = true;
      }
    }
    this.#writing = undefined;
  }

  #read(): string | undefined {
    try {
      return readFileSync(this.#path, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
        this.#warn(`${this.#options.what} can not be read`, error);
      return undefined;
    }
  }

  #putAside(reason: unknown): void {
    const { name, what } = this.#options;
    this.#warn(`${name} of ${what} is damaged and kept as ${name}.damaged`, reason);
    try {
      renameSync(this.#path, `${this.#path}.damaged`);
    } catch (error) {
      this.#warn(`${name} can not be put aside`, error);
    }
  }

  #warn(what: string, error: unknown): void {
    this.#options.log.warn(`${what}: ${error instanceof Error ? error.message : String(error)}`);
  }

  get #path(): string {
    return join(this.#options.directory, this.#options.name);
  }
}
