import { Buffer } from 'node:buffer';
import { type Address, formatAddress } from '../../base/host-port.ts';
import { exchanged, type Protocol } from './exchange.ts';
import { HEADER, type Query, RCODE, rcodeOf } from './query.ts';

export interface UpstreamOptions {
  /** The servers as they are just now, in the order in which they are asked. */
  servers(): readonly Address[];
  /** How long all of them together may take. Milliseconds. */
  readonly timeoutMs: number;
  /** Asks all at once, not one after the other. */
  readonly parallel: boolean;
  /** Questions that may be out at a time. */
  readonly most: number;
  readonly log: { info(message: string): void; warn(message: string): void };
}

/** A server that is silent for so long is joined by the next one, and may still answer. Milliseconds. */
const PATIENCE = 1000;

/** Over UDP each server is asked so many times: a datagram may be lost. */
const ROUNDS = 2;

/** What another server may know better. */
const FAILURES: ReadonlySet<number> = new Set([RCODE.serverFailure, RCODE.notImplemented, RCODE.refused]);

/** The name servers of the machine. */
export class Upstream {
  readonly #options: UpstreamOptions;
  readonly #own = new Set<string>();
  /** Questions that are out, by protocol and bytes without their ids. */
  readonly #out = new Map<string, Promise<Buffer | undefined>>();
  #isSilent = false;

  constructor(options: UpstreamOptions) {
    this.#options = options;
  }

  /** Whether a question that came from this address is one of those that went out. */
  isOwn(address: Address): boolean {
    return this.#own.has(formatAddress(address));
  }

  /**
   * What they answer, with the id of the question; undefined: nobody answers, or too many questions are out. Never rejects.
   * A question that is out already is not asked again: it waits with the other, so that one that goes round comes to an end.
   */
  async answer(bytes: Buffer, query: Query, protocol: Protocol): Promise<Buffer | undefined> {
    const key = `${protocol}${bytes.toString('latin1', 2)}`;
    let asked = this.#out.get(key);
    if (asked === undefined) {
      if (this.#out.size >= this.#options.most) return undefined;
      asked = this.#asked(bytes, query, protocol, this.#options.servers()).finally(() => this.#out.delete(key));
      this.#out.set(key, asked);
    }
    const response = await asked;
    if (response === undefined) return undefined;
    const own = Buffer.from(response);
    own.writeUInt16BE(query.id, 0);
    return own;
  }

  #asked(bytes: Buffer, query: Query, protocol: Protocol, servers: readonly Address[]): Promise<Buffer | undefined> {
    const { timeoutMs, parallel } = this.#options;
    const end = new AbortController();
    const attempts = protocol === 'udp' ? Array<readonly Address[]>(ROUNDS).fill(servers).flat() : servers;
    const errors: string[] = [];
    return new Promise((resolve) => {
      let next = 0;
      let running = 0;
      /** Of a server that could not say it: better than none. */
      let failure: Buffer | undefined;
      let timer: NodeJS.Timeout | undefined;
      const finish = (response: Buffer | undefined): void => {
        if (end.signal.aborted) return;
        clearTimeout(timer);
        clearTimeout(deadline);
        this.#tell(response !== undefined, errors);
        end.abort();
        resolve(response);
      };
      const deadline = setTimeout(() => finish(failure), timeoutMs);
      const refused = new Set<Address>();
      const begin = (): void => {
        clearTimeout(timer);
        while (next < attempts.length && refused.has(attempts[next] as Address)) next++;
        const server = attempts[next];
        if (server === undefined) {
          if (running === 0) finish(failure);
          return;
        }
        next++;
        running++;
        const message = renumbered(bytes);
        const exchange = {
          message,
          repeated: HEADER + query.question.length,
          server,
          own: this.#own,
          signal: end.signal,
        };
        exchanged(protocol, exchange)
          .then((response) => {
            if (!FAILURES.has(rcodeOf(response))) return finish(response);
            refused.add(server);
            failure ??= response;
          })
          .catch((error: Error) => errors.push(`${formatAddress(server)}: ${error.message}`))
          .finally(() => {
            running--;
            if (!end.signal.aborted) begin();
          });
        if (parallel && next < servers.length) begin();
        else timer = setTimeout(begin, PATIENCE);
      };
      begin();
    });
  }

  /** Once when they fall silent, once when they answer again. */
  #tell(isAnswered: boolean, errors: readonly string[]): void {
    const { log } = this.#options;
    if (isAnswered && this.#isSilent) log.info('the name servers of this machine answer again');
    if (!isAnswered && !this.#isSilent) {
      const why = errors.length === 0 ? 'they are silent' : [...new Set(errors)].join('; ');
      log.warn(`no name server of this machine answers, and names outside of the mesh are not found: ${why}`);
    }
    this.#isSilent = !isAnswered;
  }
}

/** With an id that nobody can guess. */
function renumbered(bytes: Buffer): Buffer {
  const message = Buffer.from(bytes);
  message.writeUInt16BE(crypto.getRandomValues(new Uint16Array(1))[0] ?? 0, 0);
  return message;
}
