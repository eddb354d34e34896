import type { RefusedResources } from '../pipeline/resource-sources.ts';
import type { ProxySessions } from '../pipeline/session.ts';
import type { DiscoveryEvents, StreamInfo } from '../xds/events.ts';
import type { Nack } from '../xds/provider.ts';

/** A refusal that holds: what was refused is still what the proxy would be sent. Times in milliseconds since 1970. */
export interface Refusal extends RefusedResources {
  readonly proxy: string;
  readonly at: number;
  /** When what the proxy had taken of this type before was sent; undefined: it had taken nothing. */
  readonly holdsSince: number | undefined;
}

/** What is known of one type of one stream. */
interface TypeRecord {
  sent: { readonly nonce: string; readonly at: number } | undefined;
  holdsSince: number | undefined;
  refused: readonly { readonly nack: Nack; readonly at: number; readonly holdsSince: number | undefined }[];
}

/** What connected proxies refuse. */
export class Refusals {
  readonly events: DiscoveryEvents;
  readonly #sessions: ProxySessions;
  readonly #streams = new Map<StreamInfo, Map<string, TypeRecord>>();

  constructor(sessions: ProxySessions, now: () => number = Date.now) {
    this.#sessions = sessions;
    this.events = {
      onPush: (stream, { typeUrl, nonce }) => {
        this.#record(stream, typeUrl).sent = { nonce, at: now() };
      },
      onAck: (stream, typeUrl, { nonce }) => {
        const record = this.#record(stream, typeUrl);
        if (record.sent?.nonce === nonce) record.holdsSince = record.sent.at;
      },
      onNack: (stream, typeUrl, nack) => {
        const record = this.#record(stream, typeUrl);
        const { holdsSince } = record;
        // What is sent again, as it was away in between, is refused again.
        const others = this.#holding(stream, typeUrl, record).filter((other) => !isWithin(other.nack, nack));
        record.refused = [...others, { nack, at: now(), holdsSince }];
      },
      onStreamClose: (stream) => void this.#streams.delete(stream),
    };
  }

  /** Those that hold now. */
  current(): readonly Refusal[] {
    return [...this.#streams].flatMap(([stream, types]) =>
      [...types].flatMap(([typeUrl, record]) =>
        this.#holding(stream, typeUrl, record).map(({ nack: { message, resources }, at, holdsSince }) => ({
          proxy: stream.proxy,
          typeUrl,
          names: resources.map(({ name }) => name),
          message,
          at,
          holdsSince,
        })),
      ),
    );
  }

  #record(stream: StreamInfo, typeUrl: string): TypeRecord {
    const types = this.#streams.get(stream) ?? new Map<string, TypeRecord>();
    this.#streams.set(stream, types);
    const record = types.get(typeUrl) ?? { sent: undefined, holdsSince: undefined, refused: [] };
    types.set(typeUrl, record);
    return record;
  }

  #holding({ proxy }: StreamInfo, typeUrl: string, { refused }: TypeRecord): TypeRecord['refused'] {
    if (refused.length === 0) return refused;
    const set = this.#sessions.named(proxy)?.resources(typeUrl);
    return refused.filter(
      ({ nack: { resources } }) =>
        resources.length > 0 && resources.every(({ name, version }) => set?.get(name)?.version === version),
    );
  }
}

/** Whether all that was refused is refused by another answer, too. */
function isWithin({ resources }: Nack, other: Nack): boolean {
  const refused = new Map(other.resources.map(({ name, version }) => [name, version]));
  return resources.every(({ name, version }) => refused.get(name) === version);
}
