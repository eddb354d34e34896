import { setTimeout as delay } from 'node:timers/promises';
import { type ChangeKind, type LoadFigures, loadFigures } from './probe.ts';
import { type Heap, type OurServer, removeAddedServices, type Server, startFloor, startOurs } from './servers.ts';

/** A figure of ours, and the floor's in the same run where it has one. */
export interface Pair {
  readonly ours: number;
  readonly floor: number | undefined;
}

/** Figures by name, one for each run. */
export type Measured = Map<string, Pair[]>;

export interface Effort {
  readonly runs: number;
  readonly changes: number;
  readonly sizes: readonly number[];
  /** Edits over which the heap must stay flat; 0: not looked at. */
  readonly edits: number;
  /** Clients at the largest size, each in a namespace of its own; 0: not looked at. */
  readonly scopes: number;
}

export const EFFORTS: Readonly<Record<'quick' | 'full', Effort>> = {
  quick: { runs: 1, changes: 8, sizes: [100, 1_000], edits: 0, scopes: 0 },
  full: { runs: 3, changes: 20, sizes: [100, 1_000, 10_000], edits: 1_000, scopes: 500 },
};

const CLIENTS = 20;
const MANY_CLIENTS = 100;
/** Enough for a collection of the whole heap among them. */
const SCOPE_CHANGES = 100;
/** The size at which every kind of change is made and many clients connect. */
const USUAL = 1_000;

/** Everything, in pairs: ours and the floor right after each other, run by run. */
export async function measured(effort: Effort, say: (line: string) => void): Promise<Measured> {
  const out: Measured = new Map();
  const note = (name: string, ours: number, floor?: number) => {
    out.set(name, [...(out.get(name) ?? []), { ours, floor }]);
  };
  for (const services of effort.sizes) {
    const ours = await startOurs(services);
    const floor = await startFloor(services);
    try {
      note(`start ${services}`, ours.startS, floor.startS);
      for (let run = 1; run <= effort.runs; run++) {
        say(`${services} services, run ${run} of ${effort.runs}`);
        await noteChanges({ ours, floor, services, effort, note });
      }
      if (services === Math.max(...effort.sizes) && effort.edits > 0) {
        say(`${services} services, ${effort.edits} edits`);
        await noteHeap({ ours, services, edits: effort.edits, note });
      }
    } finally {
      await Promise.all([ours.stop(), floor.stop()]);
    }
  }
  if (effort.scopes > 0) {
    say(`${Math.max(...effort.sizes)} services, ${effort.scopes} scopes`);
    await noteScopes(effort, note);
  }
  await noteStarts(effort, note);
  for (let run = 1; run <= effort.runs; run++) {
    say(`${MANY_CLIENTS} clients connect, run ${run} of ${effort.runs}`);
    const [floor, ours] = [await connected(startFloor), await connected(startOurs)];
    note('connect', ours.initial.seconds, floor.initial.seconds);
    note('connect cpu', ours.initial.cpuS, floor.initial.cpuS);
    note('connect rss', ours.initial.rssMB, floor.initial.rssMB);
    note('connect resources', ours.initial.resources);
    note('connect MB', ours.initial.MB);
  }
  return out;
}

type Note = (name: string, ours: number, floor?: number) => void;

interface Servers {
  readonly ours: OurServer;
  readonly floor: Server;
  readonly services: number;
  readonly effort: Effort;
  readonly note: Note;
}

function changed(server: Server, services: number, changes: number, kinds: readonly ChangeKind[], paceMs = 300) {
  const { dir, format, address, pid } = server;
  return loadFigures({ dir, format, address, pid, services, clients: CLIENTS, changes, kinds, paceMs });
}

async function noteChanges({ ours, floor, services, effort: { changes }, note }: Servers): Promise<void> {
  const least = await changed(floor, services, changes, ['endpoint']);
  removeAddedServices(ours);
  const kinds: readonly ChangeKind[] = services === USUAL ? ['endpoint', 'route', 'service'] : ['endpoint'];
  const found = await changed(ours, services, changes, kinds);
  assertComplete(least);
  assertComplete(found);
  for (const kind of kinds) {
    const [mine, its] = [found[kind], least.endpoint];
    if (mine === undefined || its === undefined) continue;
    note(`${kind} ${services}`, mine.allClientsMedianMs, its.allClientsMedianMs);
    note(`${kind} ${services} worst`, mine.allClientsMaxMs, its.allClientsMaxMs);
    note(`${kind} ${services} cpu`, mine.cpuSPerChange * 1000, its.cpuSPerChange * 1000);
  }
  note(`rss ${services}`, found.initial.rssMB, least.initial.rssMB);
  if (services !== USUAL) return;
  const [quickFloor, quickOurs] = [
    await changed(floor, services, 5 * changes, ['endpoint'], 20),
    await changed(ours, services, 5 * changes, ['endpoint'], 20),
  ];
  const [mine, its] = [quickOurs.endpoint, quickFloor.endpoint];
  if (mine === undefined || its === undefined) return;
  note('endpoint quick', mine.allClientsMedianMs, its.allClientsMedianMs);
  note('endpoint quick cpu', mine.cpuSPerChange * 1000, its.cpuSPerChange * 1000);
}

/** More starts, as one alone says little. Those of large trees take too long to repeat. */
async function noteStarts({ runs, sizes }: Effort, note: Note): Promise<void> {
  for (const services of sizes.filter((size) => size <= USUAL)) {
    for (let run = 1; run < 2 * runs; run++) {
      const floor = await startFloor(services);
      await floor.stop();
      const ours = await startOurs(services);
      await ours.stop();
      note(`start ${services}`, ours.startS, floor.startS);
    }
  }
}

/** @throws Error when a client never got a change: no time is right then */
function assertComplete(figures: LoadFigures): void {
  for (const kind of ['endpoint', 'route', 'service'] as const) {
    const missed = figures[kind]?.missed ?? 0;
    if (missed > 0) throw new Error(`${missed} times a client did not get a change (${kind})`);
  }
}

interface HeapRun {
  readonly ours: OurServer;
  readonly services: number;
  readonly edits: number;
  readonly note: Note;
}

async function noteHeap(run: HeapRun): Promise<void> {
  // Until then parts of what is built when clients connect first are missing.
  await heapOverEdits(run, run.edits / 2);
  const before = await heapOverEdits(run, run.edits / 2);
  const after = await heapOverEdits(run, run.edits / 2);
  run.note(`heap ${run.services}`, before);
  run.note(`heap ${run.services} growth`, after - before);
}

/** The heap while as many clients as there are namespaces have everything, none of them what another has. */
async function noteScopes({ sizes, scopes }: Effort, note: Note): Promise<void> {
  const services = Math.max(...sizes);
  const perNamespace = services / scopes;
  const ours = await startOurs(services, perNamespace);
  try {
    const { dir, format, address, pid } = ours;
    const common = { dir, format, address, pid, services, clients: scopes, perNamespace } as const;
    const seen: Heap[] = [];
    const found = loadFigures({ ...common, changes: SCOPE_CHANGES, kinds: ['endpoint'] });
    const editing = found.then(() => true);
    while (!(await Promise.race([editing, delay(100)]))) seen.push(await ours.heap());
    const { initial, endpoint } = await found;
    // The changes come last: by then all clients have all that there is.
    const last = seen.slice(-SCOPE_CHANGES);
    note(`scopes ${services}`, Math.min(...last.map(({ usedMB }) => usedMB)));
    note(`scopes ${services} connect`, initial.seconds);
    note(`scopes ${services} rss`, initial.rssMB);
    if (endpoint !== undefined) note(`scopes ${services} endpoint`, endpoint.allClientsMedianMs);
  } finally {
    await ours.stop();
  }
}

/** Rounds of edits in which a collection of the whole heap must have happened. */
const MOST_ROUNDS = 10;

/** The heap goes up until it is collected: what is in use is the least that was seen around a collection. */
async function heapOverEdits({ ours, services }: HeapRun, edits: number): Promise<number> {
  const { collections } = await ours.heap();
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const seen: Heap[] = [];
    const editing = changed(ours, services, edits, ['endpoint'], 20).then(() => true);
    while (!(await Promise.race([editing, delay(100)]))) seen.push(await ours.heap());
    if (seen.some((heap) => heap.collections > collections)) return Math.min(...seen.map(({ usedMB }) => usedMB));
  }
  throw new Error(`the heap was not collected over ${MOST_ROUNDS * edits} edits`);
}

async function connected(start: (services: number) => Promise<Server>): Promise<LoadFigures> {
  const server = await start(USUAL);
  try {
    const { dir, format, address, pid } = server;
    const clients = MANY_CLIENTS;
    return await loadFigures({ dir, format, address, pid, services: USUAL, clients, changes: 0, kinds: ['endpoint'] });
  } finally {
    await server.stop();
  }
}
