import type { Key } from './api.ts';
import type { Engine } from './engine.ts';
import { describeKey } from './keys.ts';
import { eachLink, hasLink, type Links, withLink, withoutLink } from './links.ts';
import { sameContent } from './same-content.ts';

/** The outcome is right. */
export const CLEAN = 0;
/** One of the suspects may have changed. Like a cell in any of the states below, it has no clean dependents. */
export const CHECK = 1;
/** A dependency has changed, or there is no outcome yet. */
export const DIRTY = 2;
export const RUNNING = 3;
/** Swept; no longer part of the graph. */
export const DROPPED = 4;

/** The outcome of a computation that threw. It stays, like a value, until something that was read changes. */
export class Failure {
  readonly error: unknown;

  constructor(error: unknown) {
    this.error = error;
  }
}

/** Thrown in paranoid mode. */
class HiddenRead extends Error {
  constructor(title: string) {
    super(`${title} came to another value although nothing that it read has changed: what else does it read?`);
  }
}

const NO_OUTCOME = new Failure(new Error('not computed yet'));

export interface FamilyOptions<V> {
  readonly equals?: ((a: V, b: V) => boolean) | undefined;
  /** An `input` reads what was set from outside; a `step` is an inner part, of which `onCompute` is not told. */
  readonly kind?: 'input' | 'step' | 'derivation';
  /** A cell that is kept as long as this family has cells. */
  readonly home?: Cell;
}

/** The cells that one function computes, by key. */
export class Family<K extends Key, V> {
  readonly engine: Engine;
  readonly name: string;
  readonly compute: (key: K) => V;
  readonly equals: (a: V, b: V) => boolean;
  readonly kind: 'input' | 'step' | 'derivation';
  readonly home: Cell | undefined;
  readonly cells: Map<Key, Cell> = new Map();

  constructor(engine: Engine, name: string, compute: (key: K) => V, options: FamilyOptions<V> = {}) {
    this.engine = engine;
    this.name = name;
    this.compute = compute;
    this.equals = options.equals ?? Object.is;
    this.kind = options.kind ?? 'derivation';
    this.home = options.home;
  }

  get(key: K): V {
    return this.cell(key).read() as V;
  }

  cell(key: K): Cell {
    let cell = this.cells.get(key);
    if (cell === undefined) {
      cell = this.open(key);
      this.cells.set(key, cell);
      this.engine.cellCount++;
    }
    return cell;
  }

  protected open(key: K): Cell {
    return new Cell(this as AnyFamily, key);
  }
}

// biome-ignore lint/suspicious/noExplicitAny: cells are untyped, for there are many and of all kinds; families restore the types
export type AnyFamily = Family<any, any>;

/**
 * One memoised computation. It knows what it read, who read it, and which of the former may have changed.
 *
 * Doubt is pushed: when an input changes, all above it become CHECK, and each remembers through which dependencies. Values
 * are pulled: a cell in CHECK brings its suspects up to date. One that comes to another outcome makes its dependents DIRTY,
 * and these run again when they are pulled; one that comes to an equal outcome leaves them as they are.
 */
export class Cell {
  readonly family: AnyFamily;
  readonly key: Key;
  outcome: unknown = NO_OUTCOME;
  state: 0 | 1 | 2 | 3 | 4 = DIRTY;
  /** The frame or pass that last met this cell: keeps out repetitions without a set. */
  stamp = 0;
  /** In order of reading. */
  dependencies: undefined | Cell | readonly Cell[] = undefined;
  dependents: Links<Cell> = undefined;
  suspects: Links<Cell> = undefined;

  constructor(family: AnyFamily, key: Key) {
    this.family = family;
    this.key = key;
  }

  get title(): string {
    return `${this.family.name}(${describeKey(this.key)})`;
  }

  get idle(): boolean {
    return this.dependents === undefined && this.state !== DROPPED;
  }

  /** The cells that this one depends on. */
  below(): Iterable<Cell> {
    return eachLink(this.dependencies);
  }

  /** The value, up to date. The computation under way depends on it from now on. */
  read(): unknown {
    const { engine } = this.family;
    if (engine.frame === 0) {
      if (this.idle) engine.loose.add(this);
      if (engine.paranoid && engine.running.length === 0) engine.verified.clear();
    } else if (this.stamp !== engine.frame) {
      this.stamp = engine.frame;
      engine.reads.push(this);
    }
    return this.fresh();
  }

  /** The value, up to date, whoever wants it. */
  fresh(): unknown {
    this.refresh();
    if (this.outcome instanceof Failure) throw this.outcome.error;
    return this.outcome;
  }

  /** Brings the outcome up to date. */
  refresh(): void {
    if (this.state === CHECK) this.validate();
    if (this.state === DIRTY) this.run();
    else if (this.state === RUNNING) throw this.family.engine.cycle(this);
    else if (this.family.engine.paranoid && this.state === CLEAN) this.verify();
  }

  /** Leaves the cell CLEAN, or DIRTY when a dependency has changed. */
  protected validate(): void {
    const { suspects } = this;
    // In order of reading, since what was read later may have been read only because of what came before.
    for (const dependency of suspects instanceof Cell ? [suspects] : this.below()) {
      if (!hasLink(suspects, dependency)) continue;
      if (dependency.state === RUNNING) this.state = DIRTY;
      else dependency.refresh();
      if (this.state !== CHECK) return;
    }
    this.suspects = undefined;
    this.state = CLEAN;
  }

  protected run(): void {
    const { engine } = this.family;
    const base = engine.reads.length;
    this.state = RUNNING;
    const outcome = this.#compute(this.family.kind === 'derivation');
    this.#link(base);
    this.suspects = undefined;
    this.state = CLEAN;
    if (engine.paranoid) engine.verified.add(this);
    if (Object.is(outcome, this.outcome)) return;
    this.outcome = outcome;
    this.changed();
  }

  /** What the function comes to: the present outcome if that equals it. What it read is left in `Engine.reads`. */
  #compute(isNews: boolean): unknown {
    const { family, outcome } = this;
    const { engine } = family;
    const outer = engine.frame;
    const depth = engine.running.length;
    try {
      engine.enter(this);
      engine.frame = ++engine.lastFrame;
      if (isNews) engine.onCompute?.(family.name, this.key);
      const next = family.compute(this.key);
      return !(outcome instanceof Failure) && family.equals(outcome, next) ? outcome : next;
    } catch (error) {
      return new Failure(error);
    } finally {
      engine.running.length = depth;
      engine.frame = outer;
    }
  }

  /** Makes what was read since `base` the dependencies, each once. */
  #link(base: number): void {
    const { engine } = this.family;
    const reads = engine.reads as Cell[];
    const pass = ++engine.lastFrame;
    let end = base;
    for (let i = base; i < reads.length; i++) {
      const dependency = reads[i] as Cell;
      if (dependency.stamp === pass) continue;
      dependency.stamp = pass;
      dependency.dependents = withLink(dependency.dependents, this);
      reads[end++] = dependency;
    }
    for (const dependency of this.below()) if (dependency.stamp !== pass) dependency.release(this);
    this.dependencies = end - base > 1 ? reads.slice(base, end) : end > base ? reads[base] : undefined;
    reads.length = base;
  }

  /** Paranoid mode: computes a clean cell again, as if nothing were known of it. */
  protected verify(): void {
    const { engine } = this.family;
    if (engine.verified.has(this)) return;
    engine.verified.add(this);
    const base = engine.reads.length;
    const outcome = this.#compute(false);
    for (const cell of engine.reads.splice(base)) if (cell.idle) engine.loose.add(cell);
    if (outcome instanceof Failure && outcome.error instanceof HiddenRead) throw outcome.error;
    const bothFail = outcome instanceof Failure && this.outcome instanceof Failure;
    if (!bothFail && !sameContent(outcome, this.outcome)) throw new HiddenRead(this.title);
  }

  /** What an input cell stands for has been set: all above come into doubt. */
  invalidate(): void {
    if (this.state !== CLEAN) return;
    this.state = DIRTY;
    const doubted: Cell[] = [this];
    for (let cell = doubted.pop(); cell !== undefined; cell = doubted.pop()) {
      for (const dependent of eachLink(cell.dependents)) if (dependent.suspect(cell)) doubted.push(dependent);
    }
  }

  /** @returns whether the cell was clean until now, so that its dependents do not know yet */
  suspect(dependency: Cell): boolean {
    if (this.state === DIRTY) return false;
    this.suspects = withLink(this.suspects, dependency);
    if (this.state === CHECK) return false;
    this.state = CHECK;
    return true;
  }

  /** Tells the dependents that the outcome is another one. */
  protected changed(): void {
    for (const dependent of eachLink(this.dependents)) dependent.dependencyChanged();
  }

  protected dependencyChanged(): void {
    if (this.state === CHECK) this.state = DIRTY;
  }

  /** `dependent` reads this cell no longer. */
  release(dependent: Cell): void {
    this.dependents = withoutLink(this.dependents, dependent);
    if (this.idle) this.family.engine.loose.add(this);
  }

  drop(): void {
    const { family } = this;
    for (const dependency of this.below()) dependency.release(this);
    this.dependencies = undefined;
    this.suspects = undefined;
    this.state = DROPPED;
    family.cells.delete(this.key);
    family.engine.cellCount--;
    if (family.home?.idle === true) family.engine.loose.add(family.home);
  }
}
