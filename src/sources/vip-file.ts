import { readFileSync, renameSync } from 'node:fs';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isJsonObject, type JsonValue } from '../base/json.ts';
import type { StoredVip, VipStorage } from '../config/vip-storage.ts';
import type { SourceLog } from './source.ts';

export interface VipFileOptions {
  /** Made when it is not there: `var/lib/istio/vips`. */
  readonly directory: string;
  readonly log: SourceLog;
}

const FILE = 'vips.json';

/**
 * Allocated addresses in one file, `{"hosts": {"namespace/host": "240.240.1.2"}, "gone": {}}`, written anew and renamed into
 * place at each change; changes that come while it is written go together. A file that is damaged is put aside. Failures are
 * logged and nothing more: without the file, addresses come from the hosts' names, and most are the same.
 */
export class VipFile implements VipStorage {
  readonly #options: VipFileOptions;
  #next: (() => readonly StoredVip[]) | undefined;
  #writing: Promise<void> | undefined;
  #hasFailed = false;

  constructor(options: VipFileOptions) {
    this.#options = options;
  }

  load(): readonly StoredVip[] {
    const text = this.#read();
    if (text === undefined) return [];
    try {
      const file = JSON.parse(text) as JsonValue;
      if (!isJsonObject(file)) throw new Error('it holds no object');
      return [...vipsIn(file['hosts'], false), ...vipsIn(file['gone'], true)];
    } catch (error) {
      this.#putAside(error);
      return [];
    }
  }

  save(vips: () => readonly StoredVip[]): void {
    this.#next = vips;
    this.#writing ??= this.#write();
  }

  /** Resolves when all that was saved is on disk, or has failed. Never rejects. */
  async flush(): Promise<void> {
    await this.#writing;
  }

  async #write(): Promise<void> {
    while (this.#next !== undefined) {
      const vips = this.#next;
      this.#next = undefined;
      try {
        await mkdir(this.#options.directory, { recursive: true, mode: 0o700 });
        await writeFile(`${this.#path}.new`, textOf(vips()), { flush: true, mode: 0o600 });
        await rename(`${this.#path}.new`, this.#path);
        this.#hasFailed = false;
      } catch (error) {
        if (!this.#hasFailed) this.#warn('allocated addresses are not kept for a restart', error);
        this.#hasFailed = true;
      }
    }
    this.#writing = undefined;
  }

  #read(): string | undefined {
    try {
      return readFileSync(this.#path, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') this.#warn('allocated addresses can not be read', error);
      return undefined;
    }
  }

  #putAside(reason: unknown): void {
    const aside = `${this.#path}.damaged`;
    this.#warn(`${FILE} of allocated addresses is damaged and kept as ${FILE}.damaged`, reason);
    try {
      renameSync(this.#path, aside);
    } catch (error) {
      this.#warn(`${FILE} can not be put aside`, error);
    }
  }

  #warn(what: string, error: unknown): void {
    this.#options.log.warn(`${what}: ${error instanceof Error ? error.message : String(error)}`);
  }

  get #path(): string {
    return join(this.#options.directory, FILE);
  }
}

function vipsIn(part: JsonValue | undefined, reserved: boolean): readonly StoredVip[] {
  return Object.entries(isJsonObject(part ?? null) ? (part as object) : {}).flatMap(([host, address]) =>
    typeof address === 'string' ? [{ host, address, reserved }] : [],
  );
}

function textOf(vips: readonly StoredVip[]): string {
  const part = (reserved: boolean) =>
    Object.fromEntries(vips.filter((vip) => vip.reserved === reserved).map(({ host, address }) => [host, address]));
  return `${JSON.stringify({ hosts: part(false), gone: part(true) }, null, 1)}\n`;
}
