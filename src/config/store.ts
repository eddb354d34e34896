import type { MeshFile } from '#generated/config/specs.ts';
import type { Diagnostic, SourceLocation } from '../base/diagnostic.ts';
import { deepEqual } from '../base/equal.ts';
import { compareStrings } from '../base/order.ts';
import type { Graph, Input } from '../derive/graph.ts';
import type { Config, ConfigKey } from './config.ts';
import type { Path } from './finding.ts';
import { EarlierCopies, type LastGoodStorage } from './last-good.ts';
import { locate } from './locate.ts';
import { MESH_KEY } from './mesh-files.ts';
import type { ParsedFile } from './parsed.ts';
import { ofRevision } from './revision.ts';
import { type Served, servingFindings } from './serving-findings.ts';
import type { ConfigSink } from './sink.ts';
import { SourceState } from './source-state.ts';
import { rootNamespaceOf, type WatchedNamespaces, watchedNamespaces } from './visibility.ts';

export interface ConfigStoreOptions {
  /** The root namespace while mesh.yaml names none. */
  readonly rootNamespace: string;
  /** Namespaces to serve while mesh.yaml names none; empty: all. */
  readonly watchNamespaces?: readonly string[];
  /** Objects that name another revision (label `istio.io/rev`) are not served; default: every one is. */
  readonly revision?: string;
  readonly lastGood?: LastGoodStorage;
  /** The time, in milliseconds since 1970. */
  readonly now?: () => number;
}

/** How an object stands: whether its present version is taken, and what is served. */
export interface ObjectStatus {
  readonly accepted: boolean;
  /** `none`: it was never right, or its namespace is not served. */
  readonly serving: 'current' | 'last-good' | 'none';
  /** Of the version that is served; absent when none is. */
  readonly hash?: string;
  readonly source: string;
  /** Of the version that is served, or else of the refused one. */
  readonly location: SourceLocation;
  /** Where the version stands that is refused. */
  readonly refusedAt?: SourceLocation;
  /** When the version that is served was taken, in milliseconds since 1970; absent for one that was there at the start. */
  readonly since?: number;
}

export interface StoreCounts {
  readonly objects: number;
  /** Objects served in their last good version. */
  readonly lastGood: number;
  readonly files: number;
  readonly refused: number;
}

interface Changes {
  isWhole: boolean;
  readonly files: Map<string, ParsedFile | undefined>;
}

/**
 * All configuration that is in force, from all sources, as inputs of the graph. Of an object that several sources have, the
 * source that was added first wins; within a source the file whose path is last by code units, within a file the last
 * document. A document that is refused never takes its object away: the last good version stays.
 */
export class ConfigStore {
  /** Objects in force. Equal content is no change, wherever it stands: see `place` for where it stands now. */
  readonly configs: Input<ConfigKey, Config>;
  /** Findings by file, in order of their place. */
  readonly diagnostics: Input<string, readonly Diagnostic[]>;
  readonly #graph: Graph;
  readonly #options: Required<Omit<ConfigStoreOptions, 'lastGood'>>;
  /** Of objects that changed after their source had given its first state. */
  readonly #changedAt = new Map<ConfigKey, number>();
  #revision = 0;
  readonly #lastGood: LastGoodStorage | undefined;
  readonly #sources: SourceState[] = [];
  readonly #changes = new Map<SourceState, Changes>();
  readonly #listeners = new Set<(files: ReadonlySet<string>) => void>();
  readonly #findings = new Map<string, readonly Diagnostic[]>();
  #watched: WatchedNamespaces;
  #depth = 0;

  constructor(graph: Graph, options: ConfigStoreOptions) {
    this.#graph = graph;
    this.#options = { watchNamespaces: [], revision: '', now: Date.now, ...options };
    this.#lastGood = options.lastGood;
    this.#watched = watchedNamespaces(undefined, this.#options);
    this.configs = graph.input('config', { equals: (a, b) => a.hash === b.hash });
    this.diagnostics = graph.input('diagnostics');
  }

  /** Adds a source, behind those that were added before. */
  source(name: string): ConfigSink {
    const state = new SourceState(name, new EarlierCopies(name, () => this.#lastGood?.load(name) ?? []));
    this.#sources.push(state);
    const rootNamespace = (): string => this.rootNamespace;
    const { revision } = this.#options;
    const own = (parsed: ParsedFile): ParsedFile => (revision === '' ? parsed : ofRevision(parsed, revision));
    return {
      replace: (files) => this.batch(() => this.#replace(state, files.map(own))),
      apply: (file, parsed) => this.batch(() => void this.#changesOf(state).files.set(file, parsed && own(parsed))),
      batch: (change) => this.batch(change),
      get rootNamespace() {
        return rootNamespace();
      },
    };
  }

  /** Changes of several sources at once. What `change` put before it threw is taken. */
  batch<T>(change: () => T): T {
    this.#depth++;
    try {
      return change();
    } finally {
      if (--this.#depth === 0) this.#settle();
    }
  }

  get rootNamespace(): string {
    return rootNamespaceOf(this.#mesh(), this.#options.rootNamespace);
  }

  /** Counts what changed of objects in force. */
  get revision(): number {
    return this.#revision;
  }

  /** Whether every source has given a whole state. */
  get isSynced(): boolean {
    return this.#sources.every(({ isSynced }) => isSynced);
  }

  /** The object that is in force, with its present place. */
  get(key: ConfigKey): Config | undefined {
    const served = this.#served(key);
    return served !== undefined && this.#watched.has(served.standing.config.namespace)
      ? served.standing.config
      : undefined;
  }

  /** Where a field of an object that is in force stands now; undefined when it is not in force. */
  place(key: ConfigKey, path: Path): SourceLocation | undefined {
    const config = this.get(key);
    return config && locate(config, path);
  }

  status(key: ConfigKey): ObjectStatus | undefined {
    const served = this.#served(key);
    if (served === undefined) return this.#refusedStatus(key);
    const { state, config, refusedAt } = served.standing;
    const { hash, location, namespace } = config;
    const since = this.#changedAt.get(key);
    return {
      accepted: state === 'valid',
      serving: !this.#watched.has(namespace) ? 'none' : state === 'valid' ? 'current' : 'last-good',
      hash,
      source: served.source,
      location,
      ...(refusedAt && { refusedAt }),
      ...(since !== undefined && { since }),
    };
  }

  /** All objects that stand in files, refused ones too, sorted. */
  keys(): readonly ConfigKey[] {
    const keys = new Set<ConfigKey>();
    for (const { inForce, files } of this.#sources) {
      for (const key of inForce.keys()) keys.add(key);
      for (const { parsed } of files.values())
        for (const { key } of parsed.refused) if (key !== undefined) keys.add(key);
    }
    return [...keys].sort(compareStrings);
  }

  /** When the version of an object that is served was taken, in milliseconds since 1970; undefined: at the start. */
  changedAt(key: ConfigKey): number | undefined {
    return this.#changedAt.get(key);
  }

  /** All findings, by file, then place. */
  allDiagnostics(): readonly Diagnostic[] {
    return [...this.#findings].sort(([a], [b]) => compareStrings(a, b)).flatMap(([, findings]) => findings);
  }

  /**
   * @param listener told after each batch of the files whose findings changed
   * @returns ends it
   */
  onDiagnostics(listener: (files: ReadonlySet<string>) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  counts(): StoreCounts {
    let objects = 0;
    let lastGood = 0;
    let files = 0;
    let refused = 0;
    for (const source of this.#sources) {
      objects += source.inForce.size;
      files += source.files.size;
      for (const { state } of source.inForce.values()) if (state !== 'valid') lastGood++;
      for (const { parsed } of source.files.values()) refused += parsed.refused.length;
    }
    return { objects, lastGood, files, refused };
  }

  #changesOf(state: SourceState): Changes {
    let changes = this.#changes.get(state);
    if (changes === undefined) {
      changes = { isWhole: false, files: new Map() };
      this.#changes.set(state, changes);
    }
    return changes;
  }

  #replace(state: SourceState, files: readonly ParsedFile[]): void {
    const changes = this.#changesOf(state);
    changes.isWhole = true;
    changes.files.clear();
    for (const file of state.files.keys()) changes.files.set(file, undefined);
    for (const parsed of files) changes.files.set(parsed.file, parsed);
  }

  #settle(): void {
    const all = [...this.#changes];
    this.#changes.clear();
    if (all.length === 0) return;
    const touched = new Set<ConfigKey>();
    const edited = new Set<ConfigKey>();
    const files = new Set<string>();
    for (const [source, changes] of all) {
      const { isSynced } = source;
      const keys = source.take(changes.files);
      if (isSynced) for (const key of keys) edited.add(key);
      this.#save(source, keys, changes.isWhole);
      if (changes.isWhole) source.synced();
      for (const file of changes.files.keys()) files.add(file);
      for (const key of keys) touched.add(key);
    }
    const watched = watchedNamespaces(this.#mesh(), this.#options);
    const isNewFilter = watched.key !== this.#watched.key;
    this.#watched = watched;
    for (const source of this.#sources) {
      for (const key of touched) for (const file of source.filesOf(key)) files.add(file);
      if (!isNewFilter) continue;
      for (const file of source.files.keys()) files.add(file);
      for (const key of source.inForce.keys()) touched.add(key);
    }
    const changed = this.#changedFindings(files);
    this.#graph.batch(() => {
      for (const key of edited) this.#noteChange(key);
      for (const key of touched) if (this.configs.set(key, this.get(key))) this.#revision++;
      for (const file of changed) this.diagnostics.set(file, this.#findings.get(file));
    });
    if (changed.size > 0) for (const listener of this.#listeners) listener(changed);
  }

  /** Called before the change, for objects that were edited. */
  #noteChange(key: ConfigKey): void {
    const config = this.get(key);
    if (config === undefined) this.#changedAt.delete(key);
    else if (config.hash !== this.configs.get(key)?.hash) this.#changedAt.set(key, this.#options.now());
  }

  #served(key: ConfigKey): Served | undefined {
    for (const source of this.#sources) {
      const standing = source.inForce.get(key);
      if (standing !== undefined) return { standing, source: source.name };
    }
    return undefined;
  }

  #refusedStatus(key: ConfigKey): ObjectStatus | undefined {
    for (const { name: source, files } of this.#sources) {
      for (const { parsed } of files.values()) {
        const refused = parsed.refused.find((other) => other.key === key);
        if (refused === undefined) continue;
        const { location } = refused;
        return { accepted: false, serving: 'none', source, location, refusedAt: location };
      }
    }
    return undefined;
  }

  #mesh(): Config<MeshFile> | undefined {
    return this.#served(MESH_KEY)?.standing.config as Config<MeshFile> | undefined;
  }

  #changedFindings(files: ReadonlySet<string>): ReadonlySet<string> {
    const changed = new Set<string>();
    for (const file of files) {
      const now = this.#sources.flatMap((source) => this.#findingsOf(source, file)).sort(byPlace);
      const before = this.#findings.get(file) ?? [];
      if (deepEqual(now, before)) continue;
      if (now.length === 0) this.#findings.delete(file);
      else this.#findings.set(file, now);
      changed.add(file);
    }
    return changed;
  }

  #findingsOf(source: SourceState, file: string): readonly Diagnostic[] {
    const held = source.files.get(file);
    if (held === undefined) return [];
    const all = [...held.parsed.diagnostics, ...servingFindings(source.name, held, (key) => this.#served(key))];
    return this.#watched.key === ''
      ? all
      : all.filter((finding) => this.#watched.has(namespaceOf(finding, held.parsed)));
  }

  #save(source: SourceState, touched: ReadonlySet<ConfigKey>, whole: boolean): void {
    if (this.#lastGood === undefined || (!whole && !source.isSynced)) return;
    const keys = whole ? source.inForce.keys() : touched;
    const put: Config[] = [];
    const removed: ConfigKey[] = [];
    for (const key of keys) {
      const standing = source.inForce.get(key);
      if (standing === undefined) removed.push(key);
      else put.push(standing.config);
    }
    if (whole || put.length + removed.length > 0) this.#lastGood.save(source.name, { whole, put, removed });
  }
}

function byPlace(a: Diagnostic, b: Diagnostic): number {
  return a.location.line - b.location.line || a.location.column - b.location.column;
}

/** The namespace that a finding is about: its object's, or that of the file. */
function namespaceOf({ resource }: Diagnostic, { namespace }: ParsedFile): string {
  if (resource === undefined) return namespace;
  const [, first = '', second] = resource.split('/');
  return second === undefined ? '' : first;
}
