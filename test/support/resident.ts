import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Zone } from './dns-server.ts';
import type { EchoOptions } from './echo-server.ts';
import { NAME_SERVERS, type Namespace } from './network.ts';
import type { Probe, ProbeAnswer } from './probe.ts';

export type Errand =
  | { readonly do: 'listen'; readonly echo: EchoOptions }
  | { readonly do: 'answer-names'; readonly address: string; readonly zone: Zone }
  | { readonly do: 'probe'; readonly probe: Probe };

/** What a resident is sent and sends back. */
export interface Order {
  readonly id: number;
  readonly errand: Errand;
}
export interface Done {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: string;
}

/** A process in a namespace that serves and asks there on behalf of a test. */
export class Resident {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, { resolve(result: unknown): void; reject(error: Error): void }>();
  #orders = 0;

  constructor(namespace: Namespace) {
    const [file = '', ...args] = [
      ...namespace.prefix,
      process.execPath,
      fileURLToPath(new URL('resident-process.ts', import.meta.url)),
    ];
    this.#child = spawn(file, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    this.#child.on('message', ({ id, result, error }: Done) => {
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error === undefined) waiting?.resolve(result);
      else waiting?.reject(new Error(error));
    });
    this.#child.once('exit', (code, signal) => {
      for (const { reject } of this.#waiting.values()) reject(new Error(`${namespace.name} ended: ${signal ?? code}`));
      this.#waiting.clear();
    });
  }

  /** Answers on an address with what it sees. See `echoServer`. */
  async listen(echo: EchoOptions): Promise<void> {
    await this.#send({ do: 'listen', echo });
  }

  /** Is the name server of all machines, when it lives in the world. See `dnsServer`. */
  async answerNames(zone: Zone): Promise<void> {
    for (const address of NAME_SERVERS) await this.#send({ do: 'answer-names', address, zone });
  }

  /** Asks from here. See `probe`. */
  async probe(probe: Probe): Promise<ProbeAnswer> {
    return (await this.#send({ do: 'probe', probe })) as ProbeAnswer;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.kill('SIGKILL');
    await exited;
  }

  #send(errand: Errand): Promise<unknown> {
    const order: Order = { id: this.#orders++, errand };
    return new Promise((resolve, reject) => {
      this.#waiting.set(order.id, { resolve, reject });
      this.#child.send(order, (error) => error && reject(error));
    });
  }
}
