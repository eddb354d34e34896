import type { Diagnostic, Severity } from '../base/diagnostic.ts';
import { compareStrings } from '../base/order.ts';
import type { Config, ConfigKey, RawDocument } from '../config/config.ts';
import type { Finding } from '../config/finding.ts';
import { pathText, resourceName } from '../config/parse.ts';
import type { ConfigStore } from '../config/store.ts';
import type { CollectionView, Graph, Watch } from '../derive/graph.ts';
import type { Analysis } from '../pipeline/analysis.ts';

/** Where a finding stood when it was last placed. A finding is the same object until something about it changes. */
const places = new WeakMap<Finding, { readonly document: RawDocument; readonly diagnostic: Diagnostic }>();

function placed(store: ConfigStore, config: Config, finding: Finding): Diagnostic {
  const known = places.get(finding);
  if (known?.document === config.document) return known.diagnostic;
  const { severity, code, message, path } = finding;
  const diagnostic: Diagnostic = {
    severity,
    code,
    message,
    location: store.place(config.key, path) ?? config.location,
    path: pathText(path),
    resource: resourceName(config.kind, config.namespace, config.name),
  };
  places.set(finding, { document: config.document, diagnostic });
  return diagnostic;
}

function ofObject(store: ConfigStore, key: ConfigKey, findings: readonly Finding[]): readonly Diagnostic[] {
  const config = store.get(key);
  return config === undefined ? [] : findings.map((finding) => placed(store, config, finding));
}

function byPlace({ location: a }: Diagnostic, { location: b }: Diagnostic): number {
  return compareStrings(a.file, b.file) || a.line - b.line || a.column - b.column;
}

function merged(...lists: readonly (readonly Diagnostic[])[]): readonly Diagnostic[] {
  return lists.flat().sort(byPlace);
}

/** All findings, about single objects and about objects in view of others, by file, then place. */
export function allFindings(store: ConfigStore, { kinds, findings }: Analysis): readonly Diagnostic[] {
  const across = kinds.flatMap((kind) => [...findings.get(kind).entries()]);
  return merged(store.allDiagnostics(), ...across.map(([key, found]) => ofObject(store, key, found)));
}

/** Findings of one file, before and after a change; both by place. */
export interface FileFindings {
  readonly file: string;
  readonly before: readonly Diagnostic[];
  readonly now: readonly Diagnostic[];
}

type Listener = (changes: readonly FileFindings[]) => void;

/** Keeps findings up to date with every edit, and says what became of those of each file. */
export class Findings {
  readonly #store: ConfigStore;
  readonly #views: readonly { readonly watch: Watch<CollectionView<ConfigKey, readonly Finding[]>>; told: number }[];
  readonly #listener: Listener;
  readonly #unfollow: () => void;
  /** Files in which objects stood when they had findings across objects. */
  readonly #fileOf = new Map<ConfigKey, string>();
  readonly #before = new Map<string, readonly Diagnostic[]>();
  #touched: Set<string> | undefined;

  /**
   * @param listener called at once with all files that have findings, then after each batch that changed some, when
   *   everything else is up to date
   */
  constructor(graph: Graph, store: ConfigStore, { kinds, findings }: Analysis, listener: Listener) {
    this.#store = store;
    this.#listener = listener;
    this.#views = kinds.map((kind) => ({ watch: graph.watch(findings, kind, () => this.#touch([])), told: 0 }));
    this.#unfollow = store.onDiagnostics((files) => this.#touch(files));
    for (const { location } of store.allDiagnostics()) this.#before.set(location.file, []);
    this.#tell(new Set(this.#before.keys()));
  }

  all(): readonly Diagnostic[] {
    return merged(
      this.#store.allDiagnostics(),
      ...this.#across().map(([key, found]) => ofObject(this.#store, key, found)),
    );
  }

  /** How many there are, without looking up where. */
  counts(): Readonly<Record<Severity, number>> {
    const counts = { error: 0, warning: 0, info: 0 };
    for (const { severity } of this.#store.allDiagnostics()) counts[severity]++;
    for (const [, found] of this.#across()) for (const { severity } of found) counts[severity]++;
    return counts;
  }

  stop(): void {
    this.#unfollow();
    for (const { watch } of this.#views) watch.stop();
  }

  #across(): readonly (readonly [ConfigKey, readonly Finding[]])[] {
    return this.#views.flatMap(({ watch }) => [...watch.value.entries()]);
  }

  /** Told once, after the batch: proxies are served first. */
  #touch(files: Iterable<string>): void {
    if (this.#touched === undefined) {
      this.#touched = new Set();
      setImmediate(() => {
        const touched = this.#touched ?? new Set();
        this.#touched = undefined;
        this.#tell(touched);
      });
    }
    for (const file of files) this.#touched.add(file);
  }

  #tell(files: Set<string>): void {
    for (const key of this.#changedObjects()) {
      const before = this.#fileOf.get(key);
      if (before !== undefined) files.add(before);
      this.#fileOf.delete(key);
    }
    const across = new Map<string, Diagnostic[]>();
    for (const [key, found] of this.#across()) {
      const file = this.#store.get(key)?.location.file;
      if (file === undefined) continue;
      if (this.#fileOf.get(key) !== file) files.add(file);
      this.#fileOf.set(key, file);
      if (files.has(file)) across.set(file, [...(across.get(file) ?? []), ...ofObject(this.#store, key, found)]);
    }
    const changes = [...files].sort(compareStrings).map((file) => {
      const now = merged(this.#store.diagnostics.get(file) ?? [], across.get(file) ?? []);
      const before = this.#before.get(file) ?? [];
      if (now.length === 0) this.#before.delete(file);
      else this.#before.set(file, now);
      return { file, before, now };
    });
    if (changes.length > 0) this.#listener(changes);
  }

  #changedObjects(): readonly ConfigKey[] {
    return this.#views.flatMap((view) => {
      const { value } = view.watch;
      const changes = value.changesSince(view.told);
      view.told = value.revision;
      return changes === undefined ? [...this.#fileOf.keys()] : [...changes.changed.keys(), ...changes.removed];
    });
  }
}
