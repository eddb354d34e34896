import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { onExit } from './on-exit.ts';

export interface ChildOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** What the program is told that it is called; default: the first of the command. */
  readonly argv0?: string;
  /** A file that takes the output: a program may open /dev/stdout again then, which it can not when that is a pipe of Node. */
  readonly outputFile?: string;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Characters of output that are kept; the oldest go. */
const OUTPUT_LIMIT = 4_000_000;

/** A process with its output, which does not outlive this one. */
export class Child {
  readonly exited: Promise<Exit>;
  readonly #process: ChildProcess;
  readonly #name: string;
  readonly #outputFile: string | undefined;
  #output = '';
  #exit: Exit | undefined;

  constructor(command: readonly string[], { cwd, env, argv0, outputFile }: ChildOptions = {}) {
    const [file = '', ...args] = command;
    this.#name = file;
    this.#outputFile = outputFile;
    const output = outputFile === undefined ? 'pipe' : openSync(outputFile, 'a');
    this.#process = spawn(file, args, {
      stdio: ['ignore', output, output],
      ...(cwd === undefined ? {} : { cwd }),
      ...(argv0 === undefined ? {} : { argv0 }),
      env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '/', ...env },
    });
    if (typeof output === 'number') closeSync(output);
    const take = (text: Buffer) => {
      this.#output = (this.#output + text.toString('utf8')).slice(-OUTPUT_LIMIT);
    };
    this.#process.stdout?.on('data', take);
    this.#process.stderr?.on('data', take);
    const forget = onExit(() => void this.#process.kill('SIGKILL'));
    this.exited = new Promise((resolve) => {
      const end = (exit: Exit) => {
        this.#exit = exit;
        forget();
        resolve(exit);
      };
      this.#process.once('error', (error) => {
        this.#output += `${error.message}\n`;
        end({ code: 127, signal: null });
      });
      this.#process.once('close', (code, signal) => end({ code, signal }));
    });
  }

  /** -1 when it could not be started. */
  get pid(): number {
    return this.#process.pid ?? -1;
  }

  /** Undefined while it runs. */
  get exit(): Exit | undefined {
    return this.#exit;
  }

  /** What it has written to standard output and standard error. */
  get output(): string {
    const file = this.#outputFile === undefined ? '' : readFileSync(this.#outputFile, 'utf8');
    return file + this.#output;
  }

  /** @throws Error with the output when it has ended */
  assertRunning(): void {
    if (this.#exit === undefined) return;
    const { code, signal } = this.#exit;
    throw new Error(`${this.#name} ended with ${signal ?? code}:\n${this.output.slice(-4_000)}`);
  }

  /** Ends it; by SIGKILL when it takes longer than the grace. */
  async stop(signal: NodeJS.Signals = 'SIGTERM', graceMs = 5_000): Promise<Exit> {
    if (this.#exit !== undefined) return this.#exit;
    this.#process.kill(signal);
    const timer = setTimeout(() => this.#process.kill('SIGKILL'), graceMs);
    const exit = await this.exited;
    clearTimeout(timer);
    return exit;
  }
}
