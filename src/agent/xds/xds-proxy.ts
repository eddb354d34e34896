import type { Server } from '@grpc/grpc-js';
import { DiscoveryServer, incrementalService } from '../../xds/server.ts';
import { AGGREGATED_SERVICE } from '../../xds/services.ts';
import type { RawCall } from '../../xds/transport.ts';
import { connected, LiveStream, type LiveStreamOptions, upstreamClient } from './live-stream.ts';

export interface XdsProxyOptions extends Pick<LiveStreamOptions, 'upstream' | 'cache' | 'own'> {
  readonly log: { info(message: string): void; warn(message: string): void };
  /** Told when a stream of Envoy's goes to istiod and is answered, and when none does any more. */
  onLive(isLive: boolean): void;
}

/** Milliseconds before istiod is looked for again while it is away; each time twice as long, up to the last. */
const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 10_000;

const HERE = 'istiod is here';

/**
 * Serves the Envoy of this machine: from istiod while it is there, else from what Envoy took last. Envoy is told to come again
 * when it changes from one to the other; what it has it keeps meanwhile.
 */
export class XdsProxy {
  readonly #options: XdsProxyOptions;
  readonly #live = new Set<LiveStream>();
  /** While istiod is away. */
  #offline: DiscoveryServer | undefined;
  #timer: NodeJS.Timeout | undefined;
  #pause = FIRST_PAUSE;
  #told = '';
  #isLive = false;
  #isStopped = false;

  constructor(options: XdsProxyOptions) {
    this.#options = options;
  }

  /** Adds its service to a server. */
  register(server: Server): void {
    server.addService(incrementalService(), { [AGGREGATED_SERVICE.delta]: (call: RawCall) => this.#serve(call) });
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    for (const stream of this.#live) stream.end('the agent stops');
    this.#offline?.close('the agent stops');
  }

  #serve(call: RawCall): void {
    if (this.#offline !== undefined) {
      this.#offline.serveIncremental(call);
      return;
    }
    const { upstream, cache, own } = this.#options;
    const stream: LiveStream = new LiveStream(call, {
      upstream,
      cache,
      own,
      onAnswer: () => {
        this.#pause = FIRST_PAUSE;
        this.#tell(HERE);
        this.#setLive(true);
      },
      onEnd: (reason) => {
        this.#live.delete(stream);
        if (this.#live.size === 0) this.#setLive(false);
        if (reason !== undefined && !this.#isStopped) this.#away(reason);
      },
    });
    this.#live.add(stream);
    stream.start();
  }

  #setLive(isLive: boolean): void {
    if (isLive !== this.#isLive) this.#options.onLive(isLive);
    this.#isLive = isLive;
  }

  #away(reason: string): void {
    this.#tell(reason);
    // Without anything to serve Envoy asks again by itself, and each time istiod is tried.
    if (this.#offline !== undefined || this.#options.cache.size === 0) return;
    this.#offline = new DiscoveryServer({ provider: this.#options.cache });
    this.#lookAgain();
  }

  #lookAgain(): void {
    this.#timer = setTimeout(() => void this.#look(), this.#pause);
    this.#timer.unref();
    this.#pause = Math.min(this.#pause * 2, LONGEST_PAUSE);
  }

  async #look(): Promise<void> {
    try {
      const client = upstreamClient(this.#options.upstream);
      await connected(client).finally(() => client.close());
    } catch {
      if (!this.#isStopped) this.#lookAgain();
      return;
    }
    const offline = this.#offline;
    this.#offline = undefined;
    offline?.close('istiod is back');
  }

  #tell(state: string): void {
    const { log, upstream, cache } = this.#options;
    if (state === this.#told) return;
    this.#told = state;
    if (state === HERE) {
      log.info(`Envoy is served by istiod at ${upstream.target}`);
      return;
    }
    const rest =
      cache.size === 0
        ? 'there is nothing yet to serve Envoy with'
        : `Envoy goes on with its last ${cache.size} resources`;
    log.warn(`istiod at ${upstream.target} is away, and ${rest}: ${state}`);
  }
}
