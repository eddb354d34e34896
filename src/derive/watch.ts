import type { Key, Watch } from './api.ts';
import { Cell, DROPPED, type Engine, Failure, Family } from './cell.ts';

export interface Target {
  readonly order: number;
  readonly cell: { get(key: Key): unknown };
  readonly key: Key;
  readonly listener: ((value: unknown) => void) | undefined;
}

/** The watches of a graph: cells that read what is watched, and are due once that may have changed. */
export class WatchFamily extends Family<Target, unknown> {
  readonly due: Set<WatchCell> = new Set();

  constructor(engine: Engine) {
    super(engine, 'watch', (target) => target.cell.get(target.key), { kind: 'step' });
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
    super(family, target);
    this.target = target;
    this.#due = family.due;
  }

  get value(): unknown {
    return this.read();
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
    this.target.listener?.(this.outcome);
  }
}
