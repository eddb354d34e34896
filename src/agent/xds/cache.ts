import type { EncodedResource } from '../../proto/resource-set.ts';
import type { ResourceProvider, Session } from '../../xds/provider.ts';
import { ResourceTable } from '../resource-table.ts';
import type { CacheFile } from './cache-file.ts';

/** Changes are written together after this time, and no sooner than so many times what the last writing took. Milliseconds. */
const DELAY = 1000;
const SPARING = 50;

/** What an Envoy has taken over, of all types: an Envoy that is started while istiod is away is served from it. */
export class XdsCache implements ResourceProvider {
  readonly #tables = new Map<string, ResourceTable>();
  readonly #file: CacheFile;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;
  #took = 0;
  #sessions = 0;

  constructor(file: CacheFile) {
    this.#file = file;
    for (const { typeUrl, resources } of file.load())
      for (const resource of resources) this.#table(typeUrl).set(resource);
  }

  /** Resources of all types. */
  get size(): number {
    return [...this.#tables.values()].reduce((sum, { size }) => sum + size, 0);
  }

  resources(typeUrl: string): ReadonlyMap<string, EncodedResource> {
    return new Map([...(this.#tables.get(typeUrl)?.values() ?? [])].map((one) => [one.name, one]));
  }

  /** All of one type, in place of what was there. */
  replace(typeUrl: string, resources: ReadonlyMap<string, EncodedResource>): void {
    const gone = [...this.resources(typeUrl).keys()].filter((name) => !resources.has(name));
    this.update(typeUrl, [...resources.values()], gone);
  }

  update(typeUrl: string, changed: readonly EncodedResource[], removed: readonly string[]): void {
    const table = this.#table(typeUrl);
    let isChanged = false;
    for (const resource of changed) isChanged = table.set(resource) || isChanged;
    for (const name of removed) isChanged = table.delete(name) || isChanged;
    if (isChanged) this.#changed();
  }

  connect(): Session {
    return {
      id: `cache-${++this.#sessions}`,
      resources: (typeUrl) => this.#tables.get(typeUrl),
      // Who is served from it is served by nobody else, so that nothing changes.
      onChange: () => undefined,
      close: () => undefined,
    };
  }

  /** Resolves when all is on disk, or has failed. */
  async flush(): Promise<void> {
    const isDue = this.#timer !== undefined;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.#writing;
    if (isDue) await this.#write();
  }

  #table(typeUrl: string): ResourceTable {
    const table = this.#tables.get(typeUrl) ?? new ResourceTable();
    this.#tables.set(typeUrl, table);
    return table;
  }

  #changed(): void {
    const begin = (): void => {
      this.#timer = undefined;
      const before = this.#writing ?? Promise.resolve();
      this.#writing = before.then(() => this.#write());
    };
    this.#timer ??= setTimeout(begin, Math.max(DELAY, SPARING * this.#took)).unref();
  }

  async #write(): Promise<void> {
    const before = performance.now();
    await this.#file.save([...this.#tables].map(([typeUrl, table]) => ({ typeUrl, resources: table.values() })));
    this.#took = performance.now() - before;
  }
}
