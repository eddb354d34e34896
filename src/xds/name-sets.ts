import { fnv1a32 } from '../base/fnv.ts';
import { WeakInterner } from '../base/weak-intern.ts';

/** Sharing fewer names saves less than looking for them costs. */
const LEAST_NAMES = 64;

/**
 * One set for all streams that ask for the same names, in whatever order: the replicas of a service, and all proxies that see the
 * whole mesh. A set of ten thousand names is some 330 kB.
 */
export class NameSets {
  readonly #pool = new WeakInterner<ReadonlySet<string>>();

  /** @param names not to be changed any more by anybody */
  shared(names: ReadonlySet<string>): ReadonlySet<string> {
    if (names.size < LEAST_NAMES) return names;
    const known = this.#pool.intern(keyOf(names), () => names);
    return sameNames(known, names) ? known : names;
  }
}

/** Equal for equal sets, and hardly ever for others. */
function keyOf(names: ReadonlySet<string>): string {
  let sum = 0;
  let product = 1;
  for (const name of names) {
    const hash = fnv1a32(name);
    sum = (sum + hash) | 0;
    product = Math.imul(product, hash | 1);
  }
  return `${names.size} ${sum} ${product}`;
}

export function sameNames(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  if (a === b) return true;
  if (a.size !== b.size) return false;
  for (const name of a) if (!b.has(name)) return false;
  return true;
}
