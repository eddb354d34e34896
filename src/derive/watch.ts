import type { Key, Watch } from './api.ts';
import { type AnyFamily, Cell, DROPPED, Failure, Family } from './cell.ts';
import type { Engine } from './engine.ts';

export interface Target {
  readonly order: number;
  readonly cell: { get(key: Key): unknown };
  readonly key: Key;
  readonly listener: ((value: unknown) => void) | undefined;
}

/** What a watch sees. A view stays the same object, so its revision says whether it has changed. */
interface Sight {
  readonly value: unknown;
  readonly revision: number;
}

function sightOf({ cell, key }: Target): Sight {
  const value = cell.get(key);
  return { value, revision: isView(value) ? value.revision : 0 };
}

/** A view of a collection, or what somebody made of several. */
function isView(value: unknown): value is { readonly revision: number } {
  return typeof value === 'object' && value !== null && 'revision' in value && typeof value.revision === 'number';
}

const sameSight = (a: Sight, b: Sight): boolean => Object.is(a.value, b.value) && a.revision === b.revision;

/** The watches of a graph: cells that read what is watched, and are due once that may have changed. */
export class WatchFamily extends Family<Target, Sight> {
  readonly due: Set<WatchCell> = new Set();

  constructor(engine: Engine) {
    super(engine, 'watch', sightOf, { kind: 'step', equals: sameSight });
  }

  protected override open(target: Target): Cell {
    return new WatchCell(this, target);
  }
}

export class WatchCell extends Cell implements Watch<unknown> {
  readonly target: Target;
  readonly #due: Set<WatchCell>;
  #isNews = false;

  constructor(family: WatchFamily, target: Target) {
    super(family as AnyFamily, target);
    this.target = target;
    this.#due = family.due;
  }

  get value(): unknown {
    this.family.engine.refuseInDerivation('the value of a watch is read');
    return (this.read() as Sight).value;
  }

  stop(): void {
    this.#due.delete(this);
    if (this.state !== DROPPED) this.drop();
  }

  override get idle(): boolean {
    return false;
  }

  override get title(): string {
    return 'a watch';
  }

  override suspect(dependency: Cell): boolean {
    this.#due.add(this);
    return super.suspect(dependency);
  }

  protected override changed(): void {
    this.#isNews = true;
    super.changed();
  }

  /** Forgets that the value has changed. */
  hush(): void {
    this.#isNews = false;
  }

  /**
   * Calls the listener if the value has changed since it was last told.
   *
   * @throws what the derivation threw instead of giving a value, or the listener
   */
  tell(): void {
    if (!this.#isNews || this.state === DROPPED) return;
    this.#isNews = false;
    if (this.outcome instanceof Failure) throw this.outcome.error;
    this.target.listener?.((this.outcome as Sight).value);
  }
}
