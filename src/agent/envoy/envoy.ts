import { type ChildProcess, spawn } from 'node:child_process';
import { askEnvoy } from './admin.ts';

export interface EnvoyOptions {
  readonly path: string;
  readonly args: readonly string[];
  /** Working directory: paths in its configuration are relative to it. */
  readonly root: string;
  /** Of its standard output. */
  readonly output: number | 'inherit';
  readonly adminPort: number;
  /** Whether only listeners for traffic to the workload are drained: what it has begun itself goes on. */
  readonly drainsInboundOnly: boolean;
  /** How long connections have to end when it is stopped. Milliseconds. */
  readonly drainMs: number;
  /** Ends the drain as soon as no connection is open, after a least time. Milliseconds; undefined: it does not. */
  readonly leastDrainMs: number | undefined;
  onStart(pid: number): void;
  readonly log: { info(message: string): void; warn(message: string): void };
}

/** Milliseconds before it is started again; each time twice as long, up to the last. */
const FIRST_PAUSE = 200;
const LONGEST_PAUSE = 30_000;
/** Who ran for so long has started well. */
const STABLE = 60_000;
/** How long it has to end after SIGTERM. */
const END_WITHIN = 5000;
const EVERY = 500;

/** The Envoy of this machine, which is started again when it ends by itself. */
export class Envoy {
  readonly #options: EnvoyOptions;
  #process: ChildProcess | undefined;
  #pause = FIRST_PAUSE;
  #timer: NodeJS.Timeout | undefined;
  #isStopping = false;
  #restarts = 0;

  constructor(options: EnvoyOptions) {
    this.#options = options;
  }

  get restarts(): number {
    return this.#restarts;
  }

  get isDraining(): boolean {
    return this.#isStopping;
  }

  start(): void {
    const { path, args, root, output, log } = this.#options;
    const began = performance.now();
    const child = spawn(path, args, { cwd: root, stdio: ['ignore', output, 'inherit'] });
    this.#process = child;
    let isOver = false;
    const over = (how: string): void => {
      if (isOver) return;
      isOver = true;
      this.#process = undefined;
      if (this.#isStopping) return;
      if (performance.now() - began > STABLE) this.#pause = FIRST_PAUSE;
      log.warn(`Envoy ended (${how}) and is started again in ${this.#pause} ms`);
      this.#timer = setTimeout(() => {
        this.#restarts++;
        this.start();
      }, this.#pause);
      this.#pause = Math.min(this.#pause * 2, LONGEST_PAUSE);
    };
    child.once('error', (error) => over(error.message));
    child.once('exit', (code, signal) => over(signal ?? `exit code ${code}`));
    if (child.pid === undefined) return;
    this.#options.onStart(child.pid);
    log.info(`Envoy is started as process ${child.pid}`);
  }

  /** Lets connections end, then ends it. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    clearTimeout(this.#timer);
    const child = this.#process;
    if (child === undefined) return;
    await this.#drain(child);
    await this.#end(child);
  }

  async #drain(child: ChildProcess): Promise<void> {
    const { adminPort, drainsInboundOnly, drainMs, leastDrainMs, log } = this.#options;
    const began = performance.now();
    try {
      await askEnvoy(adminPort, 'POST', `/drain_listeners?graceful${drainsInboundOnly ? '&inboundonly' : ''}`);
    } catch (error) {
      log.warn(`Envoy does not drain its connections: ${(error as Error).message}`);
      return;
    }
    log.info(`Envoy drains its connections for ${drainMs} ms`);
    for (;;) {
      const passed = performance.now() - began;
      if (passed >= drainMs || child.exitCode !== null || child.signalCode !== null) return;
      if (leastDrainMs !== undefined && passed >= leastDrainMs && (await this.#connections()) === 0) return;
      await new Promise((resolve) => setTimeout(resolve, Math.min(EVERY, drainMs - passed)));
    }
  }

  /** Connections that others have opened; undefined when it does not say. */
  async #connections(): Promise<number | undefined> {
    try {
      const { body } = await askEnvoy(this.#options.adminPort, 'GET', '/stats?filter=downstream_cx_active$&usedonly');
      const counts = body.split('\n').filter((line) => /^listener\.(?!admin)/.test(line) && !/worker_\d/.test(line));
      return counts.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(':') + 1)), 0);
    } catch {
      return undefined;
    }
  }

  #end(child: ChildProcess): Promise<void> {
    return new Promise((resolve) => {
      if (child.exitCode !== null || child.signalCode !== null) return resolve();
      const timer = setTimeout(() => child.kill('SIGKILL'), END_WITHIN);
      child.once('exit', () => {
        clearTimeout(timer);
        resolve();
      });
      child.kill('SIGTERM');
    });
  }
}
