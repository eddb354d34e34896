import type { GraphOptions } from './api.ts';

/** A cell, as far as the engine is concerned. */
interface Member {
  readonly title: string;
  /** Whether nothing would miss it. */
  readonly idle: boolean;
  drop(): void;
}

/** Far below what the stack holds; a derivation that reads itself under ever new keys ends here. */
const MAX_DEPTH = 1100;

/** What all cells of a graph share. */
export class Engine {
  readonly paranoid: boolean;
  readonly onCompute: GraphOptions['onCompute'];
  /** How many batches, one within the other, are under way. */
  batches = 0;
  /** Whether an input was set since the graph was last settled. */
  touched = false;
  cellCount = 0;
  /** Grows with each change of a view's content. */
  tick = 0;
  /** The computations under way, outermost first. */
  readonly running: Member[] = [];
  /** Names the innermost of them that records what it reads; 0 when there is none. */
  frame = 0;
  /** The last number given to a frame, or to a pass over the dependencies of a cell. */
  lastFrame = 0;
  /** What the computations under way have read: each one's reads lie above those of the one around it. */
  readonly reads: Member[] = [];
  /** Cells that had no dependent when last looked at: where sweeping begins. */
  readonly loose: Set<Member> = new Set();
  /** In paranoid mode: the cells found right since the outermost read began. */
  readonly verified: Set<Member> = new Set();

  constructor({ paranoid = false, onCompute }: GraphOptions) {
    this.paranoid = paranoid;
    this.onCompute = onCompute;
  }

  /** @throws in a derivation, which may do nothing but read */
  refuseInDerivation(what: string): void {
    const by = this.running.at(-1);
    if (by !== undefined) throw new Error(`${what} in the derivation ${by.title}, which may only read`);
  }

  /** @throws when computations are nested too deeply */
  enter(cell: Member): void {
    if (this.running.length >= MAX_DEPTH) {
      const innermost = this.running.slice(-3).map(({ title }) => title);
      throw new Error(`derivations are nested more than ${MAX_DEPTH} deep: … reads ${innermost.join(' reads ')}`);
    }
    this.running.push(cell);
  }

  /** An error that names the way from `cell`, which is running, back to itself. */
  cycle(cell: Member): Error {
    const path = [...this.running.slice(this.running.indexOf(cell)), cell].map(({ title }) => title);
    return new Error(`derivations form a cycle: ${path.join(' reads ')}`);
  }

  /**
   * Drops what nothing alive depends on. Counting dependents finds all of it, for the graph has no cycles: those among
   * derivations that failed for being a cycle are bugs, and stay.
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
