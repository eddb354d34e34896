import { NameSets, sameNames } from './name-sets.ts';

const ALL = '*';

const NOTHING: ReadonlySet<string> = new Set();

/** Once at least one of so many names is new, the set is looked for among those of other streams again. */
const SHARE_AFTER = 4;

/**
 * What a client wants of one type, and what of it is owed: to be sent whether or not the client is thought to have it.
 *
 * @see xDS protocol, "How the client specifies what resources to return" and "Subscribing to Resources"
 */
export class Subscription {
  #wildcard = false;
  /** Whether a name was ever asked for: from then on, no names means nothing instead of everything. */
  #named = false;
  readonly #sets: NameSets;
  /** Shared with other streams, unless it is `#own`. */
  #names: ReadonlySet<string> = NOTHING;
  #own: Set<string> | undefined;
  /** How many names came or went since the set was last shared. */
  #changes = 0;
  readonly #owed = new Set<string>();
  #implies: ((name: string) => boolean) | undefined;
  #owesAll = false;
  #owesAnswer = false;

  /** @param sets where streams that ask for the same names find each other's sets */
  constructor(sets: NameSets = new NameSets()) {
    this.#sets = sets;
  }

  /** Everything there is, besides the names. */
  get wildcard(): boolean {
    return this.#wildcard;
  }

  get size(): number {
    return this.#names.size;
  }

  /** What is asked for by name. */
  get names(): ReadonlySet<string> {
    return this.#names;
  }

  get active(): boolean {
    return this.#wildcard || this.#names.size > 0;
  }

  /** Names that the next response must speak of. */
  get owed(): ReadonlySet<string> {
    return this.#owed;
  }

  /** Whether the next response must hold all that the wildcard covers. */
  get owesAll(): boolean {
    return this.#owesAll;
  }

  /** Whether there must be a next response, also an empty one. */
  get owesAnswer(): boolean {
    return this.#owesAnswer;
  }

  /** Whether anything of the above is true. */
  get owes(): boolean {
    return this.#owesAnswer || this.#owesAll || this.#owed.size > 0;
  }

  has(name: string): boolean {
    return this.#names.has(name);
  }

  covers(name: string): boolean {
    return this.#wildcard || this.#names.has(name) || this.#implies?.(name) === true;
  }

  /** Names that belong to those asked for, and are sent with them; undefined: none do. */
  imply(implies: ((name: string) => boolean) | undefined): void {
    this.#implies = implies;
  }

  oweAnswer(): void {
    this.#owesAnswer = true;
  }

  owe(name: string): void {
    this.#owed.add(name);
  }

  /** Everything is owed again: the client has forgotten what it was sent. */
  oweEverything(): void {
    this.#owesAll = this.#wildcard;
    this.#owesAnswer = true;
    for (const name of this.#names) this.#owed.add(name);
  }

  /** What was owed is sent. */
  settle(): void {
    this.#owed.clear();
    this.#owesAll = false;
    this.#owesAnswer = false;
    if (this.#own === undefined || this.#changes * SHARE_AFTER < this.#own.size) return;
    this.#names = this.#sets.shared(this.#own);
    this.#own = undefined;
    this.#changes = 0;
  }

  /** An empty first request, for types where it means everything. */
  subscribeToAll(): void {
    this.#wildcard = true;
  }

  /**
   * Incremental: names to add; those that are there already are owed again, the client may have forgotten them.
   * @param known what the client says that it has: of this, only what differs is owed
   */
  add(names: readonly string[], known?: ReadonlyMap<string, string>): void {
    if (names.length > 0) this.#named = true;
    for (const name of names) {
      if (name === ALL) {
        this.#wildcard = true;
        this.#owesAll = known === undefined;
      } else {
        if (!this.#names.has(name)) this.#changed().add(name);
        if (!known?.has(name)) this.#owed.add(name);
      }
    }
  }

  /**
   * Incremental: names to drop. One that the wildcard still covers is owed: the client cannot tell whether to keep it
   * (xDS protocol, "Unsubscribing from Resources").
   */
  delete(names: readonly string[]): void {
    for (const name of names) {
      if (name === ALL) {
        this.#wildcard = false;
        this.#owesAll = false;
      } else if (this.#names.has(name)) {
        this.#changed().delete(name);
        if (this.#wildcard) this.#owed.add(name);
        else this.#owed.delete(name);
      }
    }
  }

  /** State of the world: the whole list of names. What is new in it is owed, and an answer with it. */
  replace(names: readonly string[], emptyMeansAll: boolean): void {
    if (names.length > 0) this.#named = true;
    const wanted = new Set(names);
    const wildcard = wanted.delete(ALL) || (!this.#named && emptyMeansAll);
    if (wildcard && !this.#wildcard) {
      this.#owesAll = true;
      this.#owesAnswer = true;
    }
    this.#wildcard = wildcard;
    if (sameNames(wanted, this.#names)) return;
    for (const name of this.#names) if (!wanted.has(name)) this.#owed.delete(name);
    for (const name of wanted) {
      if (this.#names.has(name)) continue;
      this.#owed.add(name);
      this.#owesAnswer = true;
    }
    this.#names = this.#sets.shared(wanted);
    this.#own = undefined;
  }

  /** The names as a set that no other stream reads, about to change. */
  #changed(): Set<string> {
    this.#own ??= new Set(this.#names);
    this.#names = this.#own;
    this.#changes++;
    return this.#own;
  }
}
