import { setTimeout as delay } from 'node:timers/promises';
import { TlsConnection, type TlsTarget } from './tls-client.ts';

export interface TlsLoadResult {
  readonly requests: number;
  /** What went wrong, for each request without a 200. */
  readonly failures: readonly string[];
}

/** Requests through TLS until `stop`: one after another on a connection that stays, and each on a connection of its own. */
export class TlsLoad {
  readonly #target: TlsTarget;
  readonly #failures: string[] = [];
  readonly #flows: readonly Promise<void>[];
  #requests = 0;
  #isStopped = false;

  private constructor(target: TlsTarget, lasting: TlsConnection) {
    this.#target = target;
    this.#flows = [
      this.#flow(() => this.#over(lasting)).finally(() => lasting.close()),
      this.#flow(() => this.#anew()),
    ];
  }

  static async start(target: TlsTarget): Promise<TlsLoad> {
    return new TlsLoad(target, await TlsConnection.open(target));
  }

  async stop(): Promise<TlsLoadResult> {
    this.#isStopped = true;
    await Promise.all(this.#flows);
    return { requests: this.#requests, failures: this.#failures };
  }

  async #flow(send: () => Promise<number>): Promise<void> {
    while (!this.#isStopped) {
      this.#requests++;
      try {
        const status = await send();
        if (status !== 200) this.#failures.push(String(status));
      } catch (error) {
        this.#failures.push(error instanceof Error ? error.message : String(error));
      }
      await delay(5);
    }
  }

  #over(connection: TlsConnection): Promise<number> {
    return connection.request(this.#target.servername);
  }

  async #anew(): Promise<number> {
    using connection = await TlsConnection.open(this.#target);
    return await connection.request(this.#target.servername);
  }
}
