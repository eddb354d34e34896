/**
 * Where the time of a change goes: `scripts/node bench/profile.ts [SERVICES]`. For each kind of change the server is profiled while
 * 20 clients are connected and the change is made over and over; the functions that took most CPU and allocated most are printed
 * as they stand in docs/performance.md. Functions by name: the bundle has no lines that would say more.
 */
import { copyFileSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { NODE_FLAGS } from '../build/node-flags.ts';
import { IstiodProcess } from '../test/support/istiod-process.ts';
import { waitFor } from '../test/support/wait.ts';
import { WorkDir } from '../test/support/work-dir.ts';
import { buildProbe, type ChangeKind, loadFigures, makeTree, missingTools, PER_NAMESPACE } from './probe.ts';
import { removeAddedServices } from './servers.ts';

const BUNDLE = 'dist/istiod.cjs';
const CHANGES = 30;
const PACE_MS = 300;
const LINES = 14;

interface CpuProfile {
  readonly nodes: readonly { readonly id: number; readonly callFrame: CallFrame }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

interface CallFrame {
  readonly functionName: string;
  readonly url: string;
}

interface HeapNode {
  readonly callFrame: CallFrame;
  readonly selfSize: number;
  readonly children: readonly HeapNode[];
}

interface Profile {
  readonly cpu: CpuProfile;
  readonly heap: { readonly head: HeapNode };
}

/** Milliseconds by function, without those it called. */
function cpuByFunction({ nodes, samples, timeDeltas }: CpuProfile): Map<string, number> {
  const names = new Map(nodes.map(({ id, callFrame }) => [id, nameOf(callFrame)]));
  const out = new Map<string, number>();
  for (const [i, id] of samples.entries()) {
    const name = names.get(id) ?? '';
    out.set(name, (out.get(name) ?? 0) + (timeDeltas[i] ?? 0) / 1000);
  }
  out.delete('(idle)');
  return out;
}

/** Bytes that were allocated by function, those included that were collected. */
function bytesByFunction({ head }: Profile['heap']): Map<string, number> {
  const out = new Map<string, number>();
  const add = ({ callFrame, selfSize, children }: HeapNode): void => {
    const name = nameOf(callFrame);
    if (selfSize > 0) out.set(name, (out.get(name) ?? 0) + selfSize);
    for (const child of children) add(child);
  };
  add(head);
  return out;
}

function nameOf({ functionName, url }: CallFrame): string {
  const from = url.startsWith('node:') ? ` (${url})` : '';
  return `${functionName || '(anonymous)'}${from}`;
}

function printed(what: string, unit: string, figures: ReadonlyMap<string, number>, per: number): string {
  const all = [...figures.values()].reduce((sum, value) => sum + value, 0);
  const top = [...figures].sort((a, b) => b[1] - a[1]).slice(0, LINES);
  const lines = top.map(([name, value]) => {
    const share = `${((100 * value) / all).toFixed(1)} %`;
    return `${(value / per).toFixed(2).padStart(9)} ${unit} ${share.padStart(7)}  ${name}`;
  });
  return [`${what}: ${(all / per).toFixed(2)} ${unit} a change`, ...lines].join('\n');
}

function collections(
  metrics: string,
): readonly { readonly kind: string; readonly count: number; readonly s: number }[] {
  return ['minor', 'major', 'incremental'].map((kind) => {
    const value = (of: string) =>
      Number(
        new RegExp(`^nodejs_gc_duration_seconds_${of}\\{kind="${kind}"[^}]*\\} (\\S+)$`, 'm').exec(metrics)?.[1] ?? 0,
      );
    return { kind, count: value('count'), s: value('sum') };
  });
}

async function profiled(services: number, kind: ChangeKind): Promise<string> {
  using work = new WorkDir('profile');
  const dir = work.at('etc/istio/conf');
  makeTree(dir, services, 'yaml', PER_NAMESPACE);
  const out = work.at('profile.json');
  process.env['ISTIOD_PATH'] = BUNDLE;
  await using istiod = await IstiodProcess.start({
    root: work.path,
    settings: 'log: {level: warn}\n',
    withinMs: 120_000,
    env: { NODE_OPTIONS: [...NODE_FLAGS, `--import=${resolve('bench/profiler.mjs')}`].join(' '), PROFILE_OUT: out },
  });
  const { pid, addresses } = istiod;
  const common = { dir, format: 'yaml', address: addresses.grpc, pid, services, clients: 20 } as const;
  const settleMs = 1000 * Math.max(1, services / 2_000);
  // Once without being looked at, so that what is compiled is compiled.
  await loadFigures({ ...common, changes: 10, kinds: [kind], paceMs: PACE_MS });
  removeAddedServices({ dir });
  rmSync(out, { force: true });
  const figures = loadFigures({ ...common, changes: CHANGES, kinds: [kind], paceMs: PACE_MS });
  await waitFor(async () => (await istiod.metrics()).includes('\n'), { what: 'metrics', withinMs: 10_000 });
  await delay(settleMs + 2_000);
  const before = collections(await istiod.metrics());
  process.kill(pid, 'SIGUSR2');
  const { initial, ...changes } = await figures;
  const after = collections(await istiod.metrics());
  process.kill(pid, 'SIGUSR2');
  await waitFor(() => existsSync(out) && readFileSync(out, 'utf8').endsWith('}'), {
    what: 'the profile',
    withinMs: 30_000,
  });
  if (process.env['PROFILE_KEEP']) copyFileSync(out, process.env['PROFILE_KEEP']);
  const { cpu, heap } = JSON.parse(readFileSync(out, 'utf8')) as Profile;
  const seen = CHANGES - Math.ceil(1_500 / PACE_MS);
  return [
    `${kind} change, ${services} services, 20 clients (${JSON.stringify(changes[kind])}; connect ${initial.seconds} s)`,
    `collections a change: ${after.map(({ kind, count, s }, i) => `${kind} ${((count - (before[i]?.count ?? 0)) / seen).toFixed(2)} in ${((1000 * (s - (before[i]?.s ?? 0))) / seen).toFixed(1)} ms`).join(', ')}`,
    printed('CPU', 'ms', cpuByFunction(cpu), seen),
    printed('allocated', 'kB', new Map([...bytesByFunction(heap)].map(([k, v]) => [k, v / 1000])), seen),
  ].join('\n');
}

const missing = missingTools();
if (missing !== undefined) console.log(`profile: ${missing}`);
else {
  buildProbe();
  const services = Number(process.argv[2] ?? 1_000);
  const kinds = (process.argv[3]?.split(',') ?? ['endpoint', 'route', 'service']) as ChangeKind[];
  for (const kind of kinds) console.log(`${await profiled(services, kind)}\n`);
}
