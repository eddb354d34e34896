import { execFile, execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';

const SOURCE = '../shared/tools/xdsprobe';
const BINARY = '.cache/xdsprobe';
/** Services in each namespace, unless said otherwise. */
export const PER_NAMESPACE = 50;

/** What the clients of one run saw of one kind of change. Times in milliseconds, CPU in seconds. */
export interface ChangeFigures {
  /** Median and maximum, over the changes, of the time until the last client had it. */
  readonly allClientsMedianMs: number;
  readonly allClientsMaxMs: number;
  /** Times that a client did not get a change at all. */
  readonly missed: number;
  readonly cpuSPerChange: number;
  readonly rssMB: number;
}

/** What the clients got before any change. */
export interface InitialFigures {
  readonly seconds: number;
  readonly resources: number;
  readonly MB: number;
  readonly rssMB: number;
  readonly cpuS: number;
}

export type ChangeKind = 'endpoint' | 'route' | 'service';

export interface LoadFigures extends Partial<Readonly<Record<ChangeKind, ChangeFigures>>> {
  readonly initial: InitialFigures;
}

/** `floor`: what ../shared/tools/floor.mjs reads. */
export type TreeFormat = 'yaml' | 'floor';

export interface LoadOptions {
  /** The tree whose files are changed. */
  readonly dir: string;
  readonly format: TreeFormat;
  readonly address: string;
  readonly pid: number;
  readonly services: number;
  readonly clients: number;
  /** Changes of each kind; 0: only connect. */
  readonly changes: number;
  readonly kinds: readonly ChangeKind[];
  /** Milliseconds between changes; default 300. */
  readonly paceMs?: number;
  /** Services in each namespace of the tree; default 50. Clients are spread over the namespaces. */
  readonly perNamespace?: number;
}

/** Why there can be no measurement; undefined when there can. */
export function missingTools(): string | undefined {
  if (!existsSync(SOURCE)) return `${SOURCE}, the client that measures, is not there`;
  try {
    execFileSync('go', ['version'], { stdio: 'ignore' });
    return undefined;
  } catch {
    return `${SOURCE} is built with Go, which is not there`;
  }
}

/** Builds the client. */
export function buildProbe(): void {
  execFileSync('go', ['-C', SOURCE, 'build', '-o', resolve(BINARY), '.'], { stdio: 'inherit' });
}

/** Makes a tree of configuration: 5 endpoints a service, every fifth with a VirtualService and a DestinationRule. */
export function makeTree(dir: string, services: number, format: TreeFormat, perNamespace: number): void {
  const tree = ['-dir', dir, '-services', String(services), '-format', format, '-per-ns', String(perNamespace)];
  const args = ['load', '-mode', 'gen', ...tree];
  execFileSync(BINARY, args, { stdio: 'inherit' });
}

/** Connects clients, changes files, and says when the clients had the changes. */
export function loadFigures(options: LoadOptions): Promise<LoadFigures> {
  const flags: Readonly<Record<string, string | number>> = {
    mode: 'run',
    dir: options.dir,
    format: options.format,
    addr: options.address,
    pid: options.pid,
    services: options.services,
    n: options.clients,
    iters: options.changes,
    kinds: options.kinds.join(),
    pace: `${options.paceMs ?? 300}ms`,
    'per-ns': options.perNamespace ?? PER_NAMESPACE,
    // Large trees take a server more than a second between two answers to clients that connect.
    settle: `${Math.max(1, options.services / 2_000)}s`,
  };
  const args = Object.entries(flags).flatMap(([name, value]) => [`-${name}`, String(value)]);
  return new Promise((done, fail) => {
    execFile(BINARY, ['load', ...args], { timeout: 600_000, maxBuffer: 1 << 24 }, (error, stdout, stderr) => {
      if (error === null) done(JSON.parse(stdout));
      else fail(new Error(`xdsprobe: ${error.message}\n${stderr.slice(-2_000)}`));
    });
  });
}
