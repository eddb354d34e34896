import { Agent, type IncomingHttpHeaders, request } from 'node:http';

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface HttpRequest {
  /** The Host header, when it is not that of the URL. */
  readonly host?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly agent?: Agent;
  /** Longest wait for the whole answer in milliseconds; default 5,000. */
  readonly withinMs?: number;
  /** The address to connect from. */
  readonly from?: string;
  /** A Unix socket to connect to, whatever the URL says. */
  readonly socketPath?: string;
}

/**
 * One request. Without an agent it has a connection of its own.
 * @throws Error when there is no connection, or no answer in time
 */
export function httpRequest(url: string, options: HttpRequest = {}): Promise<HttpAnswer> {
  const { host, method = 'GET', headers = {}, agent, withinMs = 5_000, from, socketPath } = options;
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      {
        method,
        agent: agent ?? false,
        headers: { ...(host === undefined ? {} : { host }), ...headers },
        ...(from === undefined ? {} : { localAddress: from }),
        ...(socketPath === undefined ? {} : { socketPath }),
        signal: AbortSignal.timeout(withinMs),
      },
      (response) => {
        let body = '';
        response.setEncoding('utf8');
        response.on('data', (text: string) => {
          body += text;
        });
        response.on('error', reject);
        response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }));
      },
    );
    sent.on('error', reject);
    sent.end();
  });
}

export interface LoadOptions extends HttpRequest {
  readonly url: string;
  /** Requests a second. */
  readonly rps: number;
  /** Open connections at most; default 8. */
  readonly connections?: number;
}

export interface LoadResult {
  readonly requests: number;
  /** What went wrong, for each request without a 200: a status or an error. */
  readonly failures: readonly string[];
  /** Answers by body. */
  readonly bodies: ReadonlyMap<string, number>;
}

/** Requests at a steady rate until `stop`, whether earlier ones were answered or not. */
export class Load {
  readonly #options: LoadOptions;
  readonly #agent: Agent;
  readonly #failures: string[] = [];
  readonly #bodies = new Map<string, number>();
  readonly #open = new Set<Promise<void>>();
  readonly #started: number = performance.now();
  readonly #timer: NodeJS.Timeout;
  #requests = 0;

  constructor(options: LoadOptions) {
    this.#options = options;
    this.#agent = new Agent({ keepAlive: true, maxSockets: options.connections ?? 8 });
    this.#timer = setInterval(() => this.#send(), 10);
  }

  /** Ends it when all that was asked is answered. */
  async stop(): Promise<LoadResult> {
    clearInterval(this.#timer);
    await Promise.all(this.#open);
    this.#agent.destroy();
    return { requests: this.#requests, failures: this.#failures, bodies: this.#bodies };
  }

  #send(): void {
    const due = ((performance.now() - this.#started) / 1000) * this.#options.rps;
    for (; this.#requests < due; this.#requests++) {
      const one: Promise<void> = this.#one().finally(() => this.#open.delete(one));
      this.#open.add(one);
    }
  }

  async #one(): Promise<void> {
    try {
      const { status, body } = await httpRequest(this.#options.url, { ...this.#options, agent: this.#agent });
      if (status === 200) this.#bodies.set(body, (this.#bodies.get(body) ?? 0) + 1);
      else this.#failures.push(`${status} ${body.slice(0, 200)}`);
    } catch (error) {
      this.#failures.push(error instanceof Error ? error.message : String(error));
    }
  }
}
