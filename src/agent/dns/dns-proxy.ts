import type { Buffer } from 'node:buffer';
import { type Address, formatAddress, isLoopback } from '../../base/host-port.ts';
import type { JsonObject } from '../../base/json.ts';
import { EXIT, StartError } from '../../process/failure.ts';
import { type Asker, type DnsListener, listenDns, listenFailureText } from './listener.ts';
import { Names, type Place } from './names.ts';
import { CLASS_IN, isQuery, type Query, RCODE, readQuery, TYPE } from './query.ts';
import type { ResolvConfFile } from './resolv-conf.ts';
import { errorResponse, fitted, foundResponse, headerOnlyResponse } from './response.ts';
import { Upstream } from './upstream.ts';

export interface DnsProxyOptions {
  /** Where questions are answered; port 0: any that is free. */
  readonly listen: readonly Address[];
  readonly place: Omit<Place, 'search'>;
  /** Who is asked for other names; empty: the name servers of `resolvConf`. */
  readonly upstream: readonly Address[];
  readonly resolvConf: ResolvConfFile;
  readonly timeoutMs: number;
  readonly parallel: boolean;
  readonly log: { info(message: string): void; warn(message: string): void };
}

const NOT_HERE: ReadonlySet<string> = new Set(['EADDRNOTAVAIL', 'EAFNOSUPPORT']);

/** Questions to name servers that may be out at a time. */
const MOST_QUESTIONS = 1000;

/**
 * The DNS of a machine: names of the mesh out of the control plane's table, all others from the machine's own name servers.
 * It answers from its start on, whether there is a table or not.
 *
 * @see istio/istio pkg/dns/client/dns.go
 */
export class DnsProxy {
  readonly #options: DnsProxyOptions;
  readonly #upstream: Upstream;
  #listeners: readonly DnsListener[] = [];
  #table: JsonObject | undefined;
  #names: Names | undefined;
  /** Search domains that the names were made with. */
  #search: readonly string[] | undefined;
  #warnedOf = '';

  private constructor(options: DnsProxyOptions) {
    this.#options = options;
    const { timeoutMs, parallel, log } = options;
    this.#upstream = new Upstream({ servers: () => this.#servers(), timeoutMs, parallel, most: MOST_QUESTIONS, log });
  }

  /** @throws StartError when an address can not be taken */
  static async start(options: DnsProxyOptions): Promise<DnsProxy> {
    const proxy = new DnsProxy(options);
    const answer = (message: Buffer, asker: Asker): Promise<Buffer | undefined> => proxy.#answer(message, asker);
    const listeners: DnsListener[] = [];
    for (const address of options.listen) {
      try {
        listeners.push(await listenDns(address, answer));
      } catch (error) {
        // A machine without IPv6 has no ::1.
        const { code = '' } = error as NodeJS.ErrnoException;
        if (listeners.length > 0 && NOT_HERE.has(code)) continue;
        await Promise.all(listeners.map((listener) => listener.close()));
        throw new StartError(EXIT.unavailable, listenFailureText(address, error), { cause: error });
      }
    }
    proxy.#listeners = listeners;
    return proxy;
  }

  get addresses(): readonly Address[] {
    return this.#listeners.map(({ address }) => address);
  }

  /** How many names are known; undefined while there is no table. */
  get size(): number | undefined {
    return this.#names?.size;
  }

  /** @param table `istio.networking.nds.v1.NameTable` in proto JSON: takes the place of the one before */
  take(table: JsonObject): void {
    this.#table = table;
    const { search } = this.#options.resolvConf.content;
    this.#search = search;
    this.#names = new Names(table, { ...this.#options.place, search });
  }

  async close(): Promise<void> {
    await Promise.all(this.#listeners.map((listener) => listener.close()));
  }

  async #answer(message: Buffer, asker: Asker): Promise<Buffer | undefined> {
    const query = readQuery(message);
    if (!isQuery(query)) return query.rcode === undefined ? undefined : headerOnlyResponse(message, query.rcode);
    if (this.#upstream.isOwn(asker.address)) {
      this.#warnOnce(
        'a question to the name servers of this machine came back: they ask this agent, or the capture of DNS takes the questions of the agent, too',
      );
      return errorResponse(query, RCODE.refused);
    }
    const found = this.#find(query);
    if (found !== undefined) return foundResponse(query, found, asker.protocol);
    const response = await this.#upstream.answer(message, query, asker.protocol);
    return response === undefined ? errorResponse(query, RCODE.serverFailure) : fitted(query, response, asker.protocol);
  }

  #find({ name, type, class: wanted }: Query): ReturnType<Names['find']> {
    if (name === undefined || wanted !== CLASS_IN || (type !== TYPE.a && type !== TYPE.aaaa)) return undefined;
    const { search } = this.#options.resolvConf.content;
    if (this.#table !== undefined && search !== this.#search && search.join() !== this.#search?.join())
      this.take(this.#table);
    return this.#names?.find(name);
  }

  /** Those to ask. This agent is none of them: a question would go round in a circle. */
  #servers(): readonly Address[] {
    const { upstream, resolvConf } = this.#options;
    const servers = upstream.length > 0 ? upstream : resolvConf.content.servers;
    const others = servers.filter((server) => !this.addresses.some((own) => isSame(own, server)));
    if (others.length < servers.length) {
      const own = servers.filter((server) => !others.includes(server)).map(formatAddress);
      this.#warnOnce(
        `${own.join(', ')} is this agent itself, and not asked for names outside of the mesh: write the name servers into var/lib/istio/resolv.conf or DNS_UPSTREAM`,
      );
    }
    return others;
  }

  #warnOnce(message: string): void {
    if (message !== this.#warnedOf) this.#options.log.warn(message);
    this.#warnedOf = message;
  }
}

/** All addresses of 127.0.0.0/8 are this machine, but a server on one of them is not on the others. */
function isSame(own: Address, server: Address): boolean {
  if (own.port !== server.port) return false;
  const isEverywhere = own.host === '0.0.0.0' || own.host === '::';
  return own.host === server.host || (isEverywhere && isLoopback(server.host));
}
