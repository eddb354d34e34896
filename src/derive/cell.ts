import type { GraphOptions, Key } from './api.ts';
import { describeKey } from './keys.ts';
import { eachLink, hasLink, type Links, withLink, withoutLink } from './links.ts';
import { sameContent } from './same-content.ts';

/** The outcome is right. Every dependent may be in any state. */
export const CLEAN = 0;
/** One of `suspects` may have changed; no dependent is clean. */
export const CHECK = 1;
/** A dependency has changed, or there is no outcome yet; no dependent is clean. */
export const DIRTY = 2;
export const RUNNING = 3;
/** Swept: no longer part of the graph. */
export const DROPPED = 4;

/** Outcome of a computation that threw. It is kept like a value, and tried again when something that was read changes. */
export class Failure {
  readonly error: unknown;
  constructor(error: unknown) {
    this.error = error;
  }
}

const NOTHING_YET = Symbol('no outcome yet');

/** What all cells of a graph share. */
export class Engine {
  readonly paranoid: boolean;
  readonly onCompute: GraphOptions['onCompute'];
  /** Depth of batches under way: inputs may be set. */
  batches = 0;
  /** Whether an input was set since the last settling. */
  touched = false;
  cellCount = 0;
  /** Grows with each change of a view's content. */
  tick = 0;
  /** The computations under way, outermost first. */
  readonly running: Cell[] = [];
  /** Identifies the innermost of them; 0 when there is none. */
  frame = 0;
  /** The last number given to a frame or to a pass over a cell's dependencies. */
  lastFrame = 0;
  /** What the computations under way have read, each one's reads behind those of the one around it. */
  readonly reads: Cell[] = [];
  /** Cells that had no dependent when last looked at: where sweeping begins. */
  readonly loose: Set<Cell> = new Set();
  /** In paranoid mode: the cells found right since the outermost read began. */
  readonly verified: Set<Cell> = new Set();

  constructor({ paranoid = false, onCompute }: GraphOptions) {
    this.paranoid = paranoid;
    this.onCompute = onCompute;
  }

  /** @throws when called by a derivation, which may do nothing but read */
  refuseInDerivation(what: string): void {
    const by = this.running.at(-1);
    if (by !== undefined) throw new Error(`${what} in the derivation ${by.title}: a derivation only reads`);
  }

  /**
   * Drops what nothing alive depends on. Counting dependents is enough because the graph has no cycles (but for those among
   * failures, which are bugs).
   */
  sweep(): number {
    const before = this.cellCount;
    for (const cell of this.loose) {
      this.loose.delete(cell);
      if (cell.idle) cell.drop();
    }
    return before - this.cellCount;
  }
}

export interface FamilyOptions<V> {
  readonly equals?: ((a: V, b: V) => boolean) | undefined;
  /** `input` cells read what was set from outside; `step` cells are inner parts, of which `onCompute` is not told. */
  readonly kind?: 'input' | 'step' | 'derivation';
  /** A cell that lives while this family has cells. */
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
    this.equals = options.equals ?? isSameValue;
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

// biome-ignore lint/suspicious/noExplicitAny: a cell does not know the types of its family; the family's methods restore them
export type AnyFamily = Family<any, any>;

/** Views are live: one differs from what it was whenever somebody asks. */
export function isSameValue(a: unknown, b: unknown): boolean {
  return Object.is(a, b) && !(a instanceof Cell);
}

/**
 * One memoised computation. It holds on to what it read and to who read it, and knows which of the former may have changed.
 *
 * Marking goes up: a changed input makes all above it CHECK, each remembering through which dependencies. Values are pulled:
 * a cell that is CHECK brings its suspects up to date, in the order in which it read them, and only if one of them really
 * changed (that one then has made it DIRTY) it runs again; an equal outcome changes nothing above.
 */
export class Cell {
  readonly family: AnyFamily;
  readonly key: Key;
  outcome: unknown = NOTHING_YET;
  state: 0 | 1 | 2 | 3 | 4 = DIRTY;
  /** The frame that read this cell last: keeps repeated reads out of `Engine.reads`. */
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

  /** Whether nothing would miss this cell. */
  get idle(): boolean {
    return this.dependents === undefined && this.state !== DROPPED;
  }

  /** The cells below. */
  below(): Iterable<Cell> {
    return eachLink(this.dependencies);
  }

  /** The value, up to date; the computation under way depends on it from now on. */
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

  /** The value, up to date, without a trace of who wanted it. */
  fresh(): unknown {
    this.refresh();
    if (this.outcome instanceof Failure) throw this.outcome.error;
    return this.outcome;
  }

  refresh(): void {
    if (this.state === CHECK) this.validate();
    if (this.state === DIRTY) this.run();
    else if (this.state === RUNNING) throw this.cycle();
    else if (this.family.engine.paranoid && this.state === CLEAN) this.verify();
  }

  /** Leaves the cell CLEAN, or DIRTY when a dependency has changed. */
  protected validate(): void {
    const { suspects } = this;
    // The order of reading: a later dependency may only have been read because of what an earlier one said.
    const ordered = suspects instanceof Set || Array.isArray(suspects) ? this.below() : eachLink(suspects);
    for (const dependency of ordered) {
      if (!hasLink(suspects, dependency)) continue;
      if (dependency.state === RUNNING) this.state = DIRTY;
      else dependency.refresh();
      if (this.state !== CHECK) return;
    }
    this.suspects = undefined;
    this.state = CLEAN;
  }

  protected run(): void {
    const { family } = this;
    const { engine } = family;
    const outer = engine.frame;
    const base = engine.reads.length;
    let outcome: unknown;
    let same = false;
    engine.frame = ++engine.lastFrame;
    engine.running.push(this);
    this.state = RUNNING;
    try {
      if (family.kind === 'derivation') engine.onCompute?.(family.name, this.key);
      outcome = family.compute(this.key);
      same = this.outcome !== NOTHING_YET && !(this.outcome instanceof Failure) && family.equals(this.outcome, outcome);
    } catch (error) {
      outcome = new Failure(error);
    }
    engine.running.pop();
    engine.frame = outer;
    this.#link(base);
    this.suspects = undefined;
    this.state = CLEAN;
    if (engine.paranoid) engine.verified.add(this);
    if (same) return;
    this.outcome = outcome;
    this.changed();
  }

  /** Takes what was read since `base` as the dependencies, without repetitions. */
  #link(base: number): void {
    const { engine } = this.family;
    const { reads } = engine;
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

  /** In paranoid mode: a clean cell runs again and must come to the same. */
  protected verify(): void {
    const { family, outcome: kept } = this;
    const { engine } = family;
    if (engine.verified.has(this)) return;
    engine.verified.add(this);
    const outer = engine.frame;
    const base = engine.reads.length;
    let outcome: unknown;
    engine.frame = ++engine.lastFrame;
    engine.running.push(this);
    try {
      outcome = family.compute(this.key);
    } catch (error) {
      outcome = new Failure(error);
    }
    engine.running.pop();
    engine.frame = outer;
    for (const cell of engine.reads.splice(base)) if (cell.idle) engine.loose.add(cell);
    const failures = Number(kept instanceof Failure) + Number(outcome instanceof Failure);
    if (failures === 2 || (failures === 0 && (family.equals(kept, outcome) || sameContent(kept, outcome)))) return;
    throw new Error(
      `${this.title} came to another value though nothing it read has changed: it reads outside of the graph`,
    );
  }

  /** An input below has been set: what is above may have changed. */
  invalidate(): void {
    if (this.state !== CLEAN) return;
    this.state = DIRTY;
    const marked: Cell[] = [this];
    for (let cell = marked.pop(); cell !== undefined; cell = marked.pop()) {
      for (const dependent of eachLink(cell.dependents)) if (dependent.suspect(cell)) marked.push(dependent);
    }
  }

  /** @returns whether the cell was clean until now, so that its dependents must hear of it */
  suspect(dependency: Cell): boolean {
    if (this.state === DIRTY) return false;
    this.suspects = withLink(this.suspects, dependency);
    if (this.state === CHECK) return false;
    this.state = CHECK;
    return true;
  }

  /** The outcome is another one: dependents must run. */
  protected changed(): void {
    for (const dependent of eachLink(this.dependents)) dependent.dependencyChanged();
  }

  protected dependencyChanged(): void {
    if (this.state === CHECK) this.state = DIRTY;
  }

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

  protected cycle(): Error {
    const { running } = this.family.engine;
    const path = [...running.slice(running.indexOf(this)), this].map((cell) => cell.title);
    return new Error(`derivations form a cycle: ${path.join(' reads ')}`);
  }
}
