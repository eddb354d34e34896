import type { RefusedResources } from '../pipeline/resource-sources.ts';
import type { ProxySessions } from '../pipeline/session.ts';
import type { DiscoveryEvents, StreamInfo } from '../xds/events.ts';
import type { Nack } from '../xds/provider.ts';

/** A refusal that holds: what was refused is still what the proxy would be sent. */
export interface Refusal extends RefusedResources {
  readonly proxy: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

interface Entry {
  readonly typeUrl: string;
  readonly nack: Nack;
  readonly at: number;
}

/** What connected proxies refuse. */
export class Refusals {
  readonly events: DiscoveryEvents;
  readonly #sessions: ProxySessions;
  readonly #entries = new Map<StreamInfo, Entry[]>();

  constructor(sessions: ProxySessions, now: () => number = Date.now) {
    this.#sessions = sessions;
    this.events = {
      onNack: (stream, typeUrl, nack) => {
        const entries = this.#held(stream);
        this.#entries.set(stream, [...entries, { typeUrl, nack, at: now() }]);
      },
      onStreamClose: (stream) => void this.#entries.delete(stream),
    };
  }

  /** Those that hold now, oldest first. */
  current(): readonly Refusal[] {
    return [...this.#entries.keys()].flatMap((stream) =>
      this.#held(stream).map(({ typeUrl, nack: { message, resources }, at }) => ({
        proxy: stream.proxy,
        typeUrl,
        names: resources.map(({ name }) => name),
        message,
        at,
      })),
    );
  }

  #held(stream: StreamInfo): Entry[] {
    const session = this.#sessions.named(stream.proxy);
    return (this.#entries.get(stream) ?? []).filter(({ typeUrl, nack: { resources } }) => {
      const set = session?.resources(typeUrl);
      return resources.length > 0 && resources.every(({ name, version }) => set?.get(name)?.version === version);
    });
  }
}
