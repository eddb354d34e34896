import type { EncodedResource } from '../proto/resource-set.ts';
import type { ResourceVersion } from './provider.ts';
import { resourceIn, type Snapshot } from './snapshot.ts';

interface Refusal {
  /** Name to version of what is withheld. */
  readonly withheld: ReadonlyMap<string, string>;
  /** What came in the same response. Whether the client took it is not known: it goes out again with the next try. */
  readonly companions: readonly string[];
}

/**
 * What a client refused. A refused version is never sent to it again on the same stream. When any version of one refusal has
 * changed, the whole refusal is over: nobody knows which of them was at fault.
 */
export class Refusals {
  #list: readonly Refusal[] = [];

  /** Resources that are withheld. */
  get size(): number {
    return this.#list.reduce((sum, { withheld }) => sum + withheld.size, 0);
  }

  add(withheld: readonly ResourceVersion[], companions: readonly string[]): void {
    if (withheld.length === 0) return;
    this.#list = [
      ...this.#list,
      { withheld: new Map(withheld.map(({ name, version }) => [name, version])), companions },
    ];
  }

  withholds({ name, version }: ResourceVersion): boolean {
    return this.#list.some(({ withheld }) => withheld.get(name) === version);
  }

  /** The client asks for these by name: it gets them, refused or not. */
  forgive(names: Iterable<string>): void {
    if (this.#list.length === 0) return;
    const asked = new Set(names);
    this.#list = this.#list
      .map(({ withheld, companions }) => ({
        withheld: new Map([...withheld].filter(([name]) => !asked.has(name))),
        companions,
      }))
      .filter(({ withheld }) => withheld.size > 0);
  }

  /** Ends the refusals of which something has changed or is gone in `now`. Returns all names of them. */
  release(now: Snapshot): readonly string[] {
    const over = this.#list.filter(({ withheld }) =>
      [...withheld].some(([name, version]) => resourceIn(now, name)?.version !== version),
    );
    if (over.length === 0) return [];
    this.#list = this.#list.filter((refusal) => !over.includes(refusal));
    return over.flatMap(({ withheld, companions }) => [...withheld.keys(), ...companions]);
  }
}

/** Characters that can be a part of a name, so that `a.b` is not found in `a.b.c` or in `xa.b`. */
const NAME_CHARACTER = /[\w|*/-]/;

/**
 * The resources that a client's error message names. Envoy and gRPC name each cluster, listener or secret that they refuse,
 * and take the others of the response.
 */
export function namedIn(message: string, resources: readonly EncodedResource[]): readonly EncodedResource[] {
  return resources.filter(({ name }) => name !== '' && names(message, name));
}

function names(message: string, name: string): boolean {
  for (let at = message.indexOf(name); at !== -1; at = message.indexOf(name, at + 1)) {
    if (!continues(message, at - 1, -1) && !continues(message, at + name.length, 1)) return true;
  }
  return false;
}

/** Whether the character there belongs to a longer name; a dot or colon does when the name goes on behind it. */
function continues(message: string, at: number, step: number): boolean {
  const character = message.charAt(at);
  if (character === '.' || character === ':') return NAME_CHARACTER.test(message.charAt(at + step));
  return NAME_CHARACTER.test(character);
}
