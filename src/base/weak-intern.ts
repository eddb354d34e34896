import { contentVersion } from './hash.ts';

/**
 * One object per text for as long as somebody holds it, so that identity can stand for equality without keeping what nobody
 * uses any more.
 */
export class WeakInterner<T extends object> {
  readonly #pool = new Map<string, WeakRef<T>>();
  readonly #gone = new FinalizationRegistry<string>((key) => {
    if (this.#pool.get(key)?.deref() === undefined) this.#pool.delete(key);
  });

  /** @param make called when no object of this text is held */
  intern(key: string, make: () => T): T {
    const known = this.#pool.get(key)?.deref();
    if (known !== undefined) return known;
    const made = make();
    this.#pool.set(key, new WeakRef(made));
    this.#gone.register(made, key);
    return made;
  }
}

/** Numbers objects in the order in which they are first seen: a short text for each, where objects stand in a key. */
export class ObjectNumbers {
  readonly #numbers = new WeakMap<object, number>();
  readonly #ofLists = new WeakMap<readonly object[], string>();
  #last = 0;

  of(object: object | undefined): number {
    if (object === undefined) return 0;
    const known = this.#numbers.get(object);
    if (known !== undefined) return known;
    this.#numbers.set(object, ++this.#last);
    return this.#last;
  }

  /** A short text for a list of objects, the same for the same objects in the same order. @param objects are not to change */
  ofAll(objects: readonly object[]): string {
    const known = this.#ofLists.get(objects);
    if (known !== undefined) return known;
    const made = contentVersion(new Uint8Array(Uint32Array.from(objects, (object) => this.of(object)).buffer));
    this.#ofLists.set(objects, made);
    return made;
  }
}
