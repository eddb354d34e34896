import { basename, dirname, join } from 'node:path';
import type { ParseOptions, WholeFile } from '../config/parse.ts';
import type { ConfigSink } from '../config/sink.ts';
import { type Clock, SYSTEM_CLOCK } from '../xds/limits.ts';
import { HeardEvents } from './events.ts';
import { FileTree } from './file-tree.ts';
import { type FileChange, KnownFiles } from './known-files.ts';
import type { Heard } from './settling.ts';
import type { Source, SourceLog } from './source.ts';
import { TreeWatches } from './watch.ts';

export interface FileSourceOptions {
  /** The directory that `root`, and paths in findings, are relative to. */
  readonly base: string;
  /** A directory of configuration, `etc/istio/conf`: a directory in it is a namespace. It need not be there yet. */
  readonly root: string;
  /** Files beside it that hold one thing each, by path: mesh.yaml, meshNetworks.yaml. */
  readonly files?: ReadonlyMap<string, WholeFile>;
  readonly strict?: boolean;
  /**
   * How long a file must be still before an object that vanished from it counts as removed, and before the last document of
   * a file that is written in place is taken. Milliseconds, 250 by default.
   */
  readonly settle?: number;
  /** Changes that come sooner after the last ones are gathered so long. Milliseconds, 100 by default. */
  readonly gather?: number;
  /** How often everything is looked at, in case that an event was lost. Milliseconds, 30,000 by default. */
  readonly rescan?: number;
  readonly clock?: Clock;
  readonly log: SourceLog;
}

/** When more than a few events come, or directories and links change, all is looked at within this time. Milliseconds. */
const LOOK_WITHIN = 1000;
const FEW_EVENTS = 256;
/** So often all is looked at while directories can not be watched. Milliseconds. */
const POLL = 2000;
/** Of one directory more names are looked at by reading the directory. */
const MANY_NAMES = 64;
/** So long work goes on before others get their turn. Milliseconds. */
const SLICE = 8;

/**
 * Configuration from files: a whole state first, then what changes. Symbolic links are followed, hidden files and directories
 * are not read.
 *
 * A change is taken at once when the last one is long enough ago. A file that is written in place may be caught half
 * written, so what it lacks counts only when it was still for `settle`; a file that is renamed over another one is complete.
 */
export function fileSource(options: FileSourceOptions): Source {
  return {
    name: `file:${options.root}`,
    start: (sink, signal) => new Reading(options, sink, signal).start(),
  };
}

class Reading {
  readonly #options: FileSourceOptions;
  readonly #sink: ConfigSink;
  readonly #signal: AbortSignal;
  readonly #clock: Clock;
  readonly #gather: number;
  readonly #heard: HeardEvents;
  readonly #watches: TreeWatches;
  readonly #tree: FileTree;
  readonly #known: KnownFiles;
  #rootNamespace = '';
  #isBusy = true;
  #isSoon = false;
  #lastChange = Number.NEGATIVE_INFINITY;
  #nextLook = Number.POSITIVE_INFINITY;
  #cancelWake: () => void = () => {};

  constructor(options: FileSourceOptions, sink: ConfigSink, signal: AbortSignal) {
    const { base, root, files = new Map(), settle = 250, gather = 100, clock = SYSTEM_CLOCK, log } = options;
    this.#options = options;
    this.#sink = sink;
    this.#signal = signal;
    this.#clock = clock;
    this.#gather = gather;
    this.#heard = new HeardEvents(() => clock.now());
    const listener = {
      entry: (directory: string, name: string | undefined, event: 'rename' | 'change') => {
        this.#heard.entry(directory, name, event);
        this.#plan();
      },
      linked: (path: string) => {
        this.#heard.linked(path);
        this.#plan();
      },
      reshaped: () => this.#lookWithin(LOOK_WITHIN),
    };
    this.#watches = new TreeWatches(base, listener, log);
    this.#tree = new FileTree(base, root, [...files.keys()], this.#watches);
    const parseOptions = (file: string): ParseOptions => this.#parseOptions(file);
    this.#known = new KnownFiles({ tree: this.#tree, parseOptions, clock, settle, gather: Math.min(gather, settle) });
  }

  async start(): Promise<void> {
    const { root, files, log } = this.#options;
    this.#signal.addEventListener('abort', () => this.#stop(), { once: true });
    await this.#inSlices(this.#tree.lookAtAll());
    const why = this.#tree.unread.get(root);
    if (why !== undefined) {
      this.#stop();
      throw new Error(`${root} can not be read: ${why}`);
    }
    if (!this.#tree.hasDirectory(root)) log.info(`${root} is not there; what it holds is taken when it appears`);
    // mesh.yaml first: it may say in which namespace files without one are.
    const whole = [...(files?.keys() ?? [])];
    const changes = whole.map((file) => this.#known.first(file));
    this.#rootNamespace = rootNamespaceIn(changes) ?? this.#sink.rootNamespace;
    const others = this.#tree.takeChanged().filter((file) => files?.has(file) !== true);
    await this.#inSlices(others, (file) => changes.push(this.#known.first(file)));
    if (this.#signal.aborted) return;
    this.#sink.replace(changes.flatMap((change) => change?.parsed ?? []));
    this.#followRootNamespace();
    this.#isBusy = false;
    this.#lookWithin(this.#options.rescan ?? 30_000);
    this.#plan();
  }

  #stop(): void {
    this.#cancelWake();
    this.#watches.close();
  }

  #parseOptions(file: string): ParseOptions {
    const { root, files, strict = false } = this.#options;
    const base = { source: `file:${root}`, strict };
    const whole = files?.get(file);
    if (whole !== undefined) return { ...base, namespace: '', whole };
    const [first = '', ...rest] = file.slice(root.length + 1).split('/');
    return { ...base, namespace: rest.length > 0 ? first : this.#rootNamespace };
  }

  #lookWithin(time: number): void {
    this.#nextLook = Math.min(this.#nextLook, this.#clock.now() + time);
  }

  /** Sees to it that the next thing that is to be done is done in time. */
  #plan(): void {
    if (this.#isBusy || this.#isSoon || this.#signal.aborted) return;
    const now = this.#clock.now();
    if (this.#heard.size > FEW_EVENTS) this.#lookWithin(LOOK_WITHIN);
    const change = this.#heard.size > 0 ? this.#lastChange + this.#gather : Number.POSITIVE_INFINITY;
    const next = Math.min(change, this.#nextLook, this.#known.nextDue ?? Number.POSITIVE_INFINITY);
    this.#cancelWake();
    if (next > now) {
      this.#cancelWake = this.#clock.after(Math.ceil(next - now), () => this.#work());
      return;
    }
    // Not at once, so that what was heard together is taken together.
    this.#isSoon = true;
    setImmediate(() => this.#work());
  }

  #work(): void {
    this.#isSoon = false;
    if (this.#isBusy || this.#signal.aborted) return;
    this.#isBusy = true;
    this.#update()
      .catch((error: unknown) => this.#options.log.warn(`looking at files failed: ${String(error)}`))
      .finally(() => {
        this.#isBusy = false;
        this.#plan();
      });
  }

  /** Takes what has changed. Nothing is awaited while there is little to do. */
  async #update(): Promise<void> {
    const now = this.#clock.now();
    const heard = this.#heard.size > 0 && now >= this.#lastChange + this.#gather ? this.#lookAtHeard() : new Map();
    const due = this.#known.takeDue(now);
    for (const file of due) this.#tree.lookAt(dirname(file), basename(file));
    if (now >= this.#nextLook) {
      this.#nextLook = now + (this.#watches.isFailing ? POLL : (this.#options.rescan ?? 30_000));
      await this.#inSlices(this.#tree.lookAtAll());
    }
    const changes: FileChange[] = [];
    const take = (change: FileChange | undefined): void => {
      if (change !== undefined) changes.push(change);
    };
    const changed = this.#tree.takeChanged();
    await this.#inSlices(changed, (file) => take(this.#known.changed(file, heard.get(file))));
    for (const file of new Set(due).difference(new Set(changed))) take(this.#known.due(file));
    if (this.#signal.aborted) return;
    const keys = new Set(changes.flatMap(({ parsed }) => parsed?.configs.map(({ key }) => key) ?? []));
    for (const file of keys.size === 0 ? [] : changed) take(this.#known.moved(file, keys));
    if (changes.length === 0) return;
    this.#lastChange = this.#clock.now();
    this.#sink.batch(() => {
      for (const { file, parsed } of changes) this.#sink.apply(file, parsed);
    });
    this.#followRootNamespace();
  }

  /** @returns what was heard of each file that it is about */
  #lookAtHeard(): ReadonlyMap<string, Heard> {
    const { directories, linked } = this.#heard.take();
    const heard = new Map<string, Heard>();
    for (const [directory, { names, isVague }] of directories) {
      const isWhole = isVague || names.size > MANY_NAMES;
      if (isWhole) this.#tree.lookBelow(directory);
      for (const [name, events] of names) {
        const path = join(directory, name);
        const isThere = isWhole ? this.#tree.files.has(path) : this.#tree.lookAt(directory, name);
        if (!isThere && events.renames > 0) this.#heard.departed(directory);
        if (this.#tree.files.has(path)) heard.set(path, { ...events, hasDeparted: this.#heard.hasDeparted(directory) });
      }
    }
    for (const path of linked) this.#tree.lookAtLinked(path);
    return heard;
  }

  /** Files that are in no namespace's directory belong to the root namespace, which mesh.yaml may change. */
  #followRootNamespace(): void {
    const { rootNamespace } = this.#sink;
    if (rootNamespace === this.#rootNamespace) return;
    this.#rootNamespace = rootNamespace;
    const { root, files } = this.#options;
    const direct = [...this.#known.names].filter((file) => dirname(file) === root && files?.has(file) !== true);
    const changes = direct.map((file) => this.#known.again(file));
    this.#sink.batch(() => {
      for (const change of changes) if (change !== undefined) this.#sink.apply(change.file, change.parsed);
    });
  }

  /** Does a part of the work at a time, so that others get their turn. */
  async #inSlices<T>(items: Iterable<T>, act: (item: T) => void = () => {}): Promise<void> {
    let started = performance.now();
    for (const item of items) {
      act(item);
      if (performance.now() - started < SLICE) continue;
      await new Promise((resolve) => setImmediate(resolve));
      if (this.#signal.aborted) return;
      started = performance.now();
    }
  }
}

function rootNamespaceIn(changes: readonly (FileChange | undefined)[]): string | undefined {
  for (const change of changes) {
    for (const { kind, spec } of change?.parsed?.configs ?? []) {
      const named = kind === 'MeshConfig' ? (spec as { readonly rootNamespace?: string }).rootNamespace : undefined;
      if (named !== undefined) return named;
    }
  }
  return undefined;
}
