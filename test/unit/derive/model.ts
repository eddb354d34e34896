import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import type { CollectionView, GraphOptions, Watch } from '../../../src/derive/graph.ts';
import { NAMES, oracle, type Program, type ProgramGraph, programGraph, type Row, type World } from './program.ts';

interface Spot {
  readonly kind: 'number' | 'map' | 'item';
  readonly index: number;
  readonly key: string;
}

export type Step =
  | { readonly do: 'batch'; readonly sets: readonly (readonly [string, Row | undefined])[]; readonly peek?: Spot }
  | { readonly do: 'watch'; readonly spot: Spot }
  | { readonly do: 'read'; readonly spot: Spot }
  | { readonly do: 'stop'; readonly which: number }
  | { readonly do: 'sweep' };

const name = fc.constantFrom(...NAMES);
const row: fc.Arbitrary<Row> = fc.record({ n: fc.nat(4), tags: fc.subarray([...NAMES], { maxLength: 2 }) });
const spot: fc.Arbitrary<Spot> = fc.record({
  kind: fc.constantFrom('number', 'map', 'item'),
  index: fc.nat(9),
  key: name,
});
const batch = fc.record(
  {
    do: fc.constant('batch' as const),
    sets: fc.array(fc.tuple(name, fc.option(row, { nil: undefined, freq: 4 })), { maxLength: 3 }),
    peek: spot,
  },
  { requiredKeys: ['do', 'sets'] },
);

export const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: batch },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('watch' as const), spot }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('read' as const), spot }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('stop' as const), which: fc.nat(9) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('sweep' as const) }) },
  ),
  { minLength: 4, maxLength: 14 },
);

/** What a read came to, comparable: a number, the entries of a map, or an error. */
type Outcome = { readonly value: unknown } | { readonly error: string };

function outcomeOf(read: () => unknown): Outcome {
  try {
    const value = read();
    return { value: isMap(value) ? [...value.entries()] : value };
  } catch (error) {
    return { error: String(error) };
  }
}

const isMap = (value: unknown): value is { entries(): Iterable<unknown> } =>
  typeof value === 'object' && value !== null;

interface Watched {
  readonly spot: Spot;
  readonly watch: Watch<unknown>;
  told: number;
  outcome: Outcome;
}

/** Takes the steps, and after each of them compares all that is watched with a plain evaluation. */
export function follow(program: Program, todo: readonly Step[], options: GraphOptions = {}): void {
  const computed = new Map<string, number>();
  const onCompute = (what: string, key: unknown): void => {
    computed.set(`${what} ${key}`, (computed.get(`${what} ${key}`) ?? 0) + 1);
  };
  const world = programGraph(program, { ...options, onCompute });
  const rows = new Map<string, Row>();
  const snapshots = new Map<string, Map<number, ReadonlyMap<string, number>>>();
  let expected = oracle(program, rows);
  let watched: Watched[] = [];

  const change = (sets: readonly (readonly [string, Row | undefined])[]): void => {
    for (const [key, value] of sets) {
      world.rows.set(key, value);
      if (value === undefined) rows.delete(key);
      else rows.set(key, value);
    }
    expected = oracle(program, rows);
  };

  for (const step of todo) {
    const revision = world.graph.revision;
    let thrown: unknown;
    computed.clear();
    for (const each of watched) each.told = 0;
    if (step.do === 'batch') {
      const { sets, peek } = step;
      try {
        world.graph.batch(() => {
          change(sets.slice(0, 1));
          if (peek !== undefined) compare(world, expected, peek);
          world.graph.batch(() => change(sets.slice(1)));
        });
      } catch (error) {
        if (error instanceof assert.AssertionError) throw error;
        thrown = error;
      }
      assert.ok(world.graph.revision - revision <= 1);
      for (const [what, times] of peek === undefined ? computed : []) {
        const most = /^map\d /.test(what) ? NAMES.length : 1; // an item may stand in one view per key
        assert.ok(times <= most, `${what} ran ${times} times`);
      }
    } else if (step.do === 'watch') {
      try {
        const entry: Watched = {
          spot: step.spot,
          watch: watch(world, step.spot, () => entry.told++),
          told: 0,
          outcome: { value: 0 },
        };
        entry.outcome = read(expected, step.spot);
        watched.push(entry);
      } catch (error) {
        assert.deepEqual({ error: String(error) }, read(expected, step.spot));
      }
    } else if (step.do === 'read') {
      compare(world, expected, step.spot);
    } else if (step.do === 'stop') {
      const [stopped] = watched.splice(step.which % Math.max(1, watched.length), 1);
      stopped?.watch.stop();
    } else {
      world.graph.sweep();
    }
    if (step.do !== 'batch') assert.equal(world.graph.revision, revision);

    let failing = false;
    for (const each of watched) {
      const before = each.outcome;
      each.outcome = read(expected, each.spot);
      const same = isEqual(before, each.outcome);
      failing ||= 'error' in each.outcome;
      // Who reads in the middle of a batch sees a state that the end of it may take back.
      const peeked = step.do === 'batch' && step.peek !== undefined;
      const calls = 'error' in each.outcome || same ? 0 : 1;
      assert.ok(each.told === calls || (peeked && same), `a listener was called ${each.told} times, not ${calls}`);
      assert.ok(
        same || 'value' in each.outcome || thrown !== undefined,
        'a batch throws what a watched derivation throws',
      );
      assert.deepEqual(
        outcomeOf(() => each.watch.value),
        each.outcome,
      );
    }
    assert.ok(failing || thrown === undefined, `the batch threw ${thrown}`);
    for (const { spot: at, outcome } of watched) {
      if (at.kind === 'map' && 'value' in outcome) compareChanges(snapshots, world, at);
    }
  }
  for (const { watch: open } of watched) open.stop();
  watched = [];
  world.graph.sweep();
  assert.equal(world.graph.cellCount, 0, 'nothing is left when nothing is watched');
}

function read(world: World, at: Spot): Outcome {
  if (at.kind === 'map') return outcomeOf(() => world.map(at.index % 4, at.key));
  if (at.kind === 'item') return outcomeOf(() => world.item(at.index % 4, at.key, 'b'));
  return outcomeOf(() => world.number(at.index % 5, at.key));
}

function compare(world: World, expected: World, at: Spot): void {
  assert.deepEqual(read(world, at), read(expected, at));
}

function watch({ graph, numbers, maps }: ProgramGraph, at: Spot, listener: () => void): Watch<unknown> {
  const map = maps[at.index % 4];
  const number = numbers[at.index % 5];
  if (map === undefined || number === undefined) throw new TypeError('a program has 4 maps and 5 numbers');
  if (at.kind === 'map') return graph.watch(map, at.key, listener);
  if (at.kind === 'item') return graph.watch({ get: (key: string) => map.item(key, 'b') }, at.key, listener);
  return graph.watch(number, at.key, listener);
}

/** Every older state of the view, with the changes since laid over it, is the present one. */
function compareChanges(
  snapshots: Map<string, Map<number, ReadonlyMap<string, number>>>,
  { maps }: ProgramGraph,
  { index, key }: Spot,
): void {
  const view = maps[index % 4]?.get(key) as CollectionView<string, number>;
  const now = new Map(view.entries());
  assert.equal(view.size, now.size);
  for (const item of NAMES) assert.equal(view.get(item), now.get(item));
  const name = `${index % 4} ${key}`;
  const older = snapshots.get(name) ?? new Map<number, ReadonlyMap<string, number>>();
  snapshots.set(name, older);
  for (const [revision, content] of older) {
    const changes = view.changesSince(revision);
    if (revision === view.revision) assert.deepEqual([...content], [...now], 'another content has another revision');
    if (changes === undefined) continue;
    const { changed, removed } = changes;
    const patched = new Map([...content, ...changed]);
    for (const item of removed) assert.ok(patched.delete(item), 'only what was there is removed');
    assert.deepEqual([...patched].sort(), [...now]);
  }
  older.set(view.revision, now);
}

function isEqual(a: Outcome, b: Outcome): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
