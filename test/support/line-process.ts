import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { onExit } from './on-exit.ts';

/** A process that is spoken to in lines of JSON. It does not outlive this one. */
export class LineProcess {
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #ended: Promise<void>;
  readonly #lines: string[] = [];
  #waiting: { readonly resolve: (line: string) => void; readonly reject: (error: Error) => void } | undefined;
  #errors = '';
  #over = false;

  constructor(command: readonly string[], env: Readonly<Record<string, string>>) {
    const [file = '', ...args] = command;
    const { PATH = '', HOME = '/' } = process.env;
    this.#process = spawn(file, args, { stdio: 'pipe', env: { PATH, HOME, ...env } });
    const forget = onExit(() => void this.#process.kill('SIGKILL'));
    this.#process.stderr.on('data', (text: Buffer) => {
      this.#errors = (this.#errors + text.toString('utf8')).slice(-10_000);
    });
    this.#process.stdin.on('error', () => {});
    createInterface({ input: this.#process.stdout }).on('line', (line) => this.#take(line));
    this.#ended = new Promise((resolve) => {
      const end = (): void => {
        this.#over = true;
        forget();
        this.#waiting?.reject(new Error(`${file} ended: ${this.#errors}`));
        resolve();
      };
      this.#process.once('error', (error) => {
        this.#errors += error.message;
        end();
      });
      this.#process.once('close', end);
    });
  }

  /** What it wrote to standard error. */
  get errors(): string {
    return this.#errors;
  }

  /** The next line that it writes. @throws Error when it ends first */
  async next<T>(): Promise<T> {
    const known = this.#lines.shift();
    if (known !== undefined) return JSON.parse(known) as T;
    if (this.#over) throw new Error(`the process has ended: ${this.#errors}`);
    const line = await new Promise<string>((resolve, reject) => {
      this.#waiting = { resolve, reject };
    });
    return JSON.parse(line) as T;
  }

  ask<T>(value: unknown): Promise<T> {
    this.#process.stdin.write(`${JSON.stringify(value)}\n`);
    return this.next<T>();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.kill('SIGKILL');
    await this.#ended;
  }

  #take(line: string): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting === undefined) this.#lines.push(line);
    else waiting.resolve(line);
  }
}
