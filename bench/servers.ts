import { copyFileSync, globSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Child } from '../test/support/child.ts';
import { freePorts } from '../test/support/free-port.ts';
import { IstiodProcess } from '../test/support/istiod-process.ts';
import { waitFor } from '../test/support/wait.ts';
import { WorkDir } from '../test/support/work-dir.ts';
import { makeTree, PER_NAMESPACE, type TreeFormat } from './probe.ts';

/** A server that is measured, on a tree of its own. */
export interface Server {
  readonly format: TreeFormat;
  /** The tree whose changes it serves. */
  readonly dir: string;
  readonly address: string;
  readonly pid: number;
  /** Seconds from the beginning of its process until it serves. */
  readonly startS: number;
  stop(): Promise<void>;
}

/** What a server must have: a directory and a way to end. */
const CONF = 'etc/istio/conf';
const FLOOR = '../shared/tools/floor.mjs';

/** The heap of ours as its metrics tell it. */
export interface Heap {
  readonly usedMB: number;
  /** Collections of the whole heap since the start. */
  readonly collections: number;
}

export interface OurServer extends Server {
  heap(): Promise<Heap>;
}

export async function startOurs(services: number, perNamespace: number = PER_NAMESPACE): Promise<OurServer> {
  const work = new WorkDir('bench');
  const dir = work.at(CONF);
  makeTree(dir, services, 'yaml', perNamespace);
  const istiod = await IstiodProcess.start({ root: work.path, settings: 'log: {level: warn}\n', withinMs: 120_000 });
  // The first start warms the caches of the file system, for both alike: the second one counts.
  await istiod.stop();
  const begun = performance.now();
  await istiod.start();
  return {
    format: 'yaml',
    dir,
    address: istiod.addresses.grpc,
    pid: istiod.pid,
    startS: (performance.now() - begun) / 1000,
    heap: async () => heapIn(await istiod.metrics()),
    stop: async () => {
      await istiod.stop();
      work[Symbol.dispose]();
    },
  };
}

function heapIn(metrics: string): Heap {
  const value = (pattern: RegExp) => Number(pattern.exec(metrics)?.[1] ?? 0);
  return {
    usedMB: value(/^nodejs_heap_size_used_bytes (\S+)$/m) / 1e6,
    collections: value(/^nodejs_gc_duration_seconds_count\{kind="major"[^}]*\} (\S+)$/m),
  };
}

/** The least that a control plane on Node can do. */
export async function startFloor(services: number): Promise<Server> {
  const work = new WorkDir('floor');
  const dir = work.at('services');
  makeTree(dir, services, 'floor', PER_NAMESPACE);
  // It finds grpc-js where ours finds it.
  mkdirSync('.cache', { recursive: true });
  copyFileSync(FLOOR, '.cache/floor.mjs');
  const [port] = await freePorts(1);
  const address = `127.0.0.1:${port}`;
  const begun = performance.now();
  const child = new Child([process.execPath, '.cache/floor.mjs', dir, address]);
  await waitFor(() => child.exit !== undefined || child.output.includes('ready'), {
    what: 'floor ready',
    withinMs: 60_000,
    everyMs: 10,
  });
  child.assertRunning();
  return {
    format: 'floor',
    dir,
    address,
    pid: child.pid,
    startS: (performance.now() - begun) / 1000,
    stop: async () => {
      await child.stop();
      work[Symbol.dispose]();
    },
  };
}

/** Takes away the services that earlier changes added: a file that is there already is no change. */
export function removeAddedServices({ dir }: Pick<Server, 'dir'>): void {
  for (const file of globSync('ns-0/svc-9?????.yaml', { cwd: dir })) rmSync(join(dir, file));
}
