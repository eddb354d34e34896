import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Config } from '../../../src/config/config.ts';
import { MESH, NETWORKS } from '../../../src/config/mesh-files.ts';
import type { ConfigSink } from '../../../src/config/sink.ts';
import { ConfigStore } from '../../../src/config/store.ts';
import { Graph } from '../../../src/derive/graph.ts';
import { type FileSourceOptions, fileSource } from '../../../src/sources/file.ts';

export const CONF = 'etc/istio/conf';

/** A ServiceEntry whose port tells its version. */
export function entry(name: string, port: number | string = 80): string {
  return `apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata:
  name: ${name}
spec:
  hosts: [${name}.test]
  resolution: DNS
  ports:
  - {number: ${port}, name: http}
`;
}

/** A working directory that a file source reads into a store, and what became of it. */
export class ConfigTree {
  readonly directory: string;
  readonly store: ConfigStore;
  readonly logged: string[] = [];
  /** Objects that came (`+`), changed (`~`) and went (`-`), as `+namespace/name`. */
  readonly changes: string[] = [];
  readonly #graph: Graph = new Graph();
  readonly #abort = new AbortController();
  readonly #sink: ConfigSink;
  readonly #waiting = new Set<() => void>();
  #seen: ReadonlyMap<string, string> = new Map();
  /** How often the source handed something over. */
  batches = 0;

  constructor(t: TestContext) {
    this.directory = mkdtempSync(join(tmpdir(), 'istiod-files-'));
    t.after(() => {
      this.#abort.abort();
      rmSync(this.directory, { recursive: true, force: true });
    });
    this.store = new ConfigStore(this.#graph, { rootNamespace: 'istio-system' });
    const sink = this.store.source(`file:${CONF}`);
    const told = <A extends unknown[]>(act: (...args: A) => void) => {
      return (...args: A): void => {
        act(...args);
        this.batches++;
        this.#note();
        for (const check of this.#waiting) check();
      };
    };
    this.#sink = {
      replace: told(sink.replace),
      apply: sink.apply,
      batch: told(sink.batch),
      get rootNamespace() {
        return sink.rootNamespace;
      },
    };
  }

  async start(options: Partial<FileSourceOptions> = {}): Promise<void> {
    const log = { info: (text: string) => this.logged.push(text), warn: (text: string) => this.logged.push(text) };
    const files = new Map([
      ['etc/istio/mesh.yaml', MESH],
      ['etc/istio/meshNetworks.yaml', NETWORKS],
    ]);
    const source = fileSource({ base: this.directory, root: CONF, files, log, ...options });
    await source.start(this.#sink, this.#abort.signal);
  }

  stop(): void {
    this.#abort.abort();
  }

  path(name: string): string {
    return join(this.directory, name);
  }

  conf(name: string): string {
    return this.path(join(CONF, name));
  }

  /** Writes a file of the configuration in place. */
  write(name: string, ...documents: readonly string[]): void {
    const path = this.conf(name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, documents.join('---\n'));
  }

  /** Writes a file of the configuration beside it and renames it over. */
  replace(name: string, ...documents: readonly string[]): void {
    const path = this.conf(name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(`${path}.tmp~`, documents.join('---\n'));
    renameSync(`${path}.tmp~`, path);
  }

  /** `namespace/name` → port, of all ServiceEntries in force. */
  ports(): Record<string, number> {
    const ports: Record<string, number> = {};
    for (const key of this.store.configs.keys()) {
      const config = this.store.get(key) as Config<{ ports?: readonly { number: number }[] }>;
      if (config.kind === 'ServiceEntry')
        ports[`${config.namespace}/${config.name}`] = config.spec.ports?.[0]?.number ?? 0;
    }
    return ports;
  }

  /** Waits until `condition` holds after something was handed over. */
  async until(condition: () => boolean, what: string = condition.toString()): Promise<void> {
    if (condition()) return;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const check = (): void => {
      if (condition()) resolve();
    };
    this.#waiting.add(check);
    const late = setTimeout(
      () => reject(new Error(`waited in vain for ${what}; ${JSON.stringify(this.ports())}`)),
      10_000,
    );
    await promise.finally(() => {
      clearTimeout(late);
      this.#waiting.delete(check);
    });
  }

  untilPorts(expected: Record<string, number>): Promise<void> {
    const text = JSON.stringify(Object.entries(expected).sort());
    return this.until(() => JSON.stringify(Object.entries(this.ports()).sort()) === text, text);
  }

  takeChanges(): string[] {
    return this.changes.splice(0);
  }

  #note(): void {
    const now = new Map(this.store.configs.keys().map((key) => [key, this.store.configs.get(key)?.hash ?? '']));
    const short = (key: string): string => key.split('/').slice(2).join('/');
    for (const [key, hash] of now) {
      const before = this.#seen.get(key);
      if (before === undefined) this.changes.push(`+${short(key)}`);
      else if (before !== hash) this.changes.push(`~${short(key)}`);
    }
    for (const key of this.#seen.keys()) if (!now.has(key)) this.changes.push(`-${short(key)}`);
    this.#seen = now;
  }
}
