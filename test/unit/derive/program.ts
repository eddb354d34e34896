import * as fc from 'fast-check';
import {
  type Collection,
  type CollectionView,
  type Derived,
  Graph,
  type GraphOptions,
  type Input,
} from '../../../src/derive/graph.ts';

/** Everything has these names: input keys, buckets, items, keys of derivations and of collections. */
export const NAMES = ['a', 'b', 'c', 'd'] as const;

export interface Row {
  readonly n: number;
  readonly tags: readonly string[];
}

/** A number per key. References mean the definition of that number, modulo how many come before. */
export type NumberOf =
  | { readonly op: 'input' | 'count' | 'bucket' }
  | { readonly op: 'pick'; readonly test: number; readonly yes: number; readonly no: number; readonly other: string }
  | { readonly op: 'clamp' | 'fail' | 'rescue' | 'boxed'; readonly of: number }
  | { readonly op: 'size' | 'sum' | 'through'; readonly of: number }
  | { readonly op: 'item'; readonly of: number; readonly item: string };

/** A map of numbers per key. */
export interface MapOf {
  readonly items: 'keys' | 'bucket' | 'filtered' | 'nested';
  readonly of: number;
  readonly value: number;
}

/** Definitions by turns: one number, one map, one number, … each reading earlier ones only. */
export interface Program {
  readonly numbers: readonly NumberOf[];
  readonly maps: readonly MapOf[];
}

interface ReadMap {
  readonly size: number;
  entries(): Iterable<readonly [string, number]>;
}

/** What a definition may read. It is bound to a graph, and to plain recursion as the oracle. */
export interface World {
  row(key: string): Row | undefined;
  bucket(name: string): readonly string[];
  keys(): readonly string[];
  number(index: number, key: string): number;
  boxed(index: number, key: string): { readonly n: number };
  map(index: number, key: string): ReadMap;
  through(index: number, key: string): ReadMap;
  item(index: number, key: string, item: string): number | undefined;
}

const nth = (reference: number, below: number): number | undefined => (below === 0 ? undefined : reference % below);
const sum = (map: ReadMap): number =>
  [...map.entries()].reduce((total, [item, n]) => total + n + item.charCodeAt(0), 0);

/** Number `index` may read the numbers and maps below `index`. */
export function numberOf(definition: NumberOf, index: number, key: string, world: World): number {
  const input = (): number => world.row(key)?.n ?? 0;
  const number = (reference: number, of: string = key): number => {
    const lower = nth(reference, index);
    return lower === undefined ? input() : world.number(lower, of);
  };
  switch (definition.op) {
    case 'input':
      return input();
    case 'count':
      return world.keys().length;
    case 'bucket':
      return world.bucket(key).reduce((total, member) => total + (world.row(member)?.n ?? 0), 0);
    case 'pick':
      return number(definition.test) % 2 === 0 ? number(definition.yes) : number(definition.no, definition.other);
    case 'clamp':
      return Math.min(number(definition.of), 2);
    case 'fail':
      if (number(definition.of) % 4 === 3) throw new Error('failed on purpose');
      return number(definition.of);
    case 'rescue':
      try {
        return number(definition.of);
      } catch {
        return -1;
      }
    case 'boxed': {
      const lower = nth(definition.of, index);
      return lower === undefined ? input() : world.boxed(lower, key).n;
    }
    default: {
      const map = nth(definition.of, index);
      if (map === undefined) return input();
      if (definition.op === 'item') return world.item(map, key, definition.item) ?? 7;
      if (definition.op === 'size') return world.map(map, key).size;
      return sum(definition.op === 'sum' ? world.map(map, key) : world.through(map, key));
    }
  }
}

/** Map `index` may read the numbers up to `index` and the maps below. */
export function itemsOf(definition: MapOf, index: number, key: string, world: World): readonly string[] {
  const lower = nth(definition.of, index);
  switch (definition.items) {
    case 'keys':
      return world.keys();
    case 'bucket':
      return [...world.bucket(key)].reverse();
    case 'filtered':
      return NAMES.filter((name) => world.number(definition.of % (index + 1), name) % 2 === 0);
    case 'nested':
      return lower === undefined ? ['b', 'a', 'b'] : [...world.map(lower, key).entries()].map(([item]) => item);
  }
}

export function valueOf(definition: MapOf, index: number, item: string, key: string, world: World): number | undefined {
  const lower = nth(definition.value, index);
  const value = world.number(definition.value % (index + 1), item);
  const more = lower === undefined ? 0 : (world.item(lower, key, item) ?? 0);
  return value % 3 === 2 ? undefined : value + more;
}

export const program: fc.Arbitrary<Program> = fc.record({
  numbers: fc.array(
    fc.oneof(
      fc.record({ op: fc.constantFrom('input', 'count', 'bucket') }),
      fc.record({
        op: fc.constant('pick'),
        test: fc.nat(9),
        yes: fc.nat(9),
        no: fc.nat(9),
        other: fc.constantFrom(...NAMES),
      }),
      fc.record({ op: fc.constantFrom('clamp', 'fail', 'rescue', 'boxed'), of: fc.nat(9) }),
      fc.record({ op: fc.constantFrom('size', 'sum', 'through'), of: fc.nat(9) }),
      fc.record({ op: fc.constant('item'), of: fc.nat(9), item: fc.constantFrom(...NAMES) }),
    ),
    { minLength: 5, maxLength: 8 },
  ),
  maps: fc.array(
    fc.record({ items: fc.constantFrom('keys', 'bucket', 'filtered', 'nested'), of: fc.nat(9), value: fc.nat(9) }),
    { minLength: 4, maxLength: 4 },
  ),
}) as fc.Arbitrary<Program>;

/** The program by plain recursion over fixed rows. */
export function oracle({ numbers, maps }: Program, rows: ReadonlyMap<string, Row>): World {
  const at = (index: number): MapOf => maps[index % maps.length] as MapOf;
  const items = memo((index: number, key: string) => new Set(itemsOf(at(index), index % maps.length, key, world)));
  const item = memo((index: number, key: string, of: string) =>
    items(index, key).has(of) ? valueOf(at(index), index % maps.length, of, key, world) : undefined,
  );
  const map = memo((index: number, key: string) => {
    const content = new Map<string, number>();
    for (const name of [...items(index, key)].sort()) {
      const value = item(index, key, name);
      if (value !== undefined) content.set(name, value);
    }
    return content;
  });
  const world: World = {
    row: (key) => rows.get(key),
    bucket: (name) => NAMES.filter((key) => rows.get(key)?.tags.includes(name) === true),
    keys: () => NAMES.filter((key) => rows.has(key)),
    number: memo((index: number, key: string) => numberOf(numbers[index] as NumberOf, index, key, world)),
    boxed: (index, key) => ({ n: world.number(index, key) }),
    map,
    through: map,
    item,
  };
  return world;
}

/** A function that does each thing once, throwing included. */
function memo<A extends readonly unknown[], R>(compute: (...args: A) => R): (...args: A) => R {
  const known = new Map<string, () => R>();
  return (...args) => {
    const name = args.join();
    let result = known.get(name);
    if (result === undefined) {
      try {
        const value = compute(...args);
        result = () => value;
      } catch (error) {
        result = () => {
          throw error;
        };
      }
      known.set(name, result);
    }
    return result();
  };
}

export interface ProgramGraph extends World {
  readonly graph: Graph;
  readonly rows: Input<string, Row>;
  readonly numbers: readonly Derived<string, number>[];
  readonly maps: readonly Collection<string, string, number>[];
}

/** The program as a graph. */
export function programGraph({ numbers, maps }: Program, options: GraphOptions = {}): ProgramGraph {
  const graph = new Graph(options);
  const rows = graph.input<string, Row>('row', {
    equals: (a, b) => a.n === b.n && a.tags.join() === b.tags.join(),
  });
  const byTag = rows.index('tag', (row) => row.tags);
  const derived = numbers.map((definition, index) =>
    graph.derived(`number${index}`, (key: string) => numberOf(definition, index, key, world)),
  );
  const boxes = numbers.map((_, index) =>
    graph.derived(`boxed${index}`, (key: string) => ({ n: world.number(index, key) }), {
      equals: (a, b) => a.n === b.n,
    }),
  );
  const collections = maps.map((definition, index) =>
    graph.collection(`map${index}`, {
      items: (key: string) => itemsOf(definition, index, key, world),
      value: (item: string, key: string) => valueOf(definition, index, item, key, world),
    }),
  );
  const throughs = collections.map((collection, index) =>
    graph.derived(`through${index}`, (key: string): CollectionView<string, number> => collection.get(key)),
  );
  const at = <T>(list: readonly T[], index: number): T => list[index % list.length] as T;
  const world: World = {
    row: (key) => rows.get(key),
    bucket: (name) => byTag.get(name),
    keys: () => rows.keys(),
    number: (index, key) => at(derived, index).get(key),
    boxed: (index, key) => at(boxes, index).get(key),
    map: (index, key) => at(collections, index).get(key),
    through: (index, key) => at(throughs, index).get(key),
    item: (index, key, item) => at(collections, index).item(key, item),
  };
  return { ...world, graph, rows, numbers: derived, maps: collections };
}
