import type { ChannelCredentials } from '@grpc/grpc-js';
import type { JsonObject } from '../../src/base/json.ts';
import {
  CLUSTER_TYPE,
  ENDPOINT_TYPE,
  EXTENSION_CONFIG_TYPE,
  LISTENER_TYPE,
  NAME_TABLE_TYPE,
  ROUTE_TYPE,
  SECRET_TYPE,
} from '../../src/proto/type-urls.ts';
import type { Variant } from '../../src/xds/events.ts';
import { AdsStream, type Received, resourceJson } from './ads-stream.ts';
import { endpointsOf, extensionsOf, routesOf, secretsOf } from './references.ts';
import { Subscription } from './subscription.ts';

export interface AdsClientOptions {
  /** `host:port` of plaintext xDS, or `unix:` and the path of a socket. */
  readonly address: string;
  /** `envoy.config.core.v3.Node` in proto JSON. See `sidecarNode`. */
  readonly node: JsonObject;
  /** Default delta. */
  readonly variant?: Variant;
  /** Default: plaintext. */
  readonly credentials?: ChannelCredentials;
  /** Whether it wants the agent's name table. Default: whether the node says DNS_CAPTURE. */
  readonly nameTable?: boolean;
  /** Whether it asks for the secrets that clusters and listeners name. Default false. */
  readonly secrets?: boolean;
  /** Connects again by itself, as Envoy does, when the stream ends. Default true. */
  readonly reconnect?: boolean;
  /** Why a response is refused; undefined takes it. */
  readonly judge?: (received: Received) => string | undefined;
}

/** Pause before a new stream, in milliseconds. */
const RECONNECT_MS = 100;

/**
 * Asks as an Envoy does: all clusters, then their endpoints, then all listeners, then their routes and extensions; it takes
 * each response, follows references as they come and go, and keeps what it has over reconnections.
 */
export class AdsClient {
  readonly variant: Variant;
  /** All responses since the start, those of earlier streams too. */
  readonly log: Received[] = [];
  readonly #options: AdsClientOptions;
  readonly #subscriptions = new Map<string, Subscription>();
  readonly #listeners = new Set<() => void>();
  #stream: AdsStream;
  #streams = 0;
  #greeted = false;
  #closed = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: AdsClientOptions) {
    this.#options = options;
    this.variant = options.variant ?? 'delta';
    this.#stream = this.#open();
    this.subscribe(CLUSTER_TYPE);
  }

  /** What it has of a type, and what happened to it. */
  type(typeUrl: string): Subscription {
    const known = this.#subscriptions.get(typeUrl);
    if (known !== undefined) return known;
    const subscription = new Subscription(typeUrl);
    this.#subscriptions.set(typeUrl, subscription);
    return subscription;
  }

  /** Resources of a type in proto JSON, by name. */
  resources(typeUrl: string): ReadonlyMap<string, JsonObject> {
    return new Map([...this.type(typeUrl).held].map(([name, held]) => [name, resourceJson(typeUrl, held)]));
  }

  /** How often a stream was opened. */
  get streams(): number {
    return this.#streams;
  }

  /** How the current stream ended; undefined while it is open. */
  get status(): AdsStream['status'] {
    return this.#stream.status;
  }

  /** Wants exactly these names from now on; none: everything. */
  subscribe(typeUrl: string, names?: Iterable<string>): void {
    const subscription = this.type(typeUrl);
    const change = subscription.want(names);
    if (change === undefined) return;
    if (subscription.requested) this.#request(subscription, change);
    else this.#first(subscription);
  }

  /** Whether everything that was asked for on this stream is answered. */
  get isSettled(): boolean {
    const all = [...this.#subscriptions.values()];
    return this.type(LISTENER_TYPE).requested && all.every((one) => one.isSettled(this.variant));
  }

  /** Resolves when `isSettled`: the state is complete, as far as this moment knows. */
  settled(withinMs = 10_000): Promise<void> {
    return this.until(() => this.isSettled, withinMs, 'answer to every request');
  }

  /**
   * Resolves when the state fulfils a condition, which is looked at after each response.
   * @throws Error when it is not fulfilled within the time
   */
  until(isFulfilled: () => boolean, withinMs = 10_000, what = 'expected state'): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (error?: Error) => {
        clearTimeout(timer);
        this.#listeners.delete(look);
        if (error === undefined) resolve();
        else reject(error);
      };
      const look = () => void (isFulfilled() && end());
      const timer = setTimeout(() => {
        const counts = [...this.#subscriptions.values()].map(String).join(', ');
        end(new Error(`no ${what} within ${withinMs} ms; it has ${counts}`));
      }, withinMs);
      this.#listeners.add(look);
      look();
    });
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#stream.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #open(): AdsStream {
    this.#streams++;
    this.#greeted = false;
    const stream = new AdsStream(
      this.#options.address,
      this.variant,
      (received) => this.#receive(received),
      this.#options.credentials,
    );
    void stream.ended.then(() => {
      if (this.#closed || this.#options.reconnect === false) return this.#changed();
      this.#timer = setTimeout(() => this.#reconnect(), RECONNECT_MS);
    });
    return stream;
  }

  #reconnect(): void {
    this.#stream = this.#open();
    for (const subscription of this.#subscriptions.values()) {
      if (!subscription.requested) continue;
      subscription.restart();
      this.#first(subscription);
    }
  }

  /** The node goes with the first request of a stream alone, as from Envoy. */
  #node(): { readonly node?: JsonObject } {
    const first = !this.#greeted;
    this.#greeted = true;
    return first ? { node: this.#options.node } : {};
  }

  /** The first request of a type on a stream tells what is there already. */
  #first(subscription: Subscription): void {
    const { typeUrl, names, held } = subscription;
    subscription.requested = true;
    if (this.variant === 'sotw') {
      this.#stream.sotw({
        ...this.#node(),
        typeUrl,
        resourceNames: [...(names ?? [])],
        versionInfo: subscription.version,
      });
    } else {
      this.#stream.delta({
        ...this.#node(),
        typeUrl,
        resourceNamesSubscribe: [...(names ?? [])],
        initialResourceVersions: Object.fromEntries([...held].map(([name, { version }]) => [name, version])),
      });
    }
  }

  #request(subscription: Subscription, change: { readonly added: string[]; readonly removed: string[] }): void {
    const { typeUrl, names, version, nonce } = subscription;
    if (this.variant === 'sotw') {
      const resourceNames = [...(names ?? [])];
      this.#stream.sotw({ ...this.#node(), typeUrl, resourceNames, versionInfo: version, responseNonce: nonce });
    } else {
      const { added: resourceNamesSubscribe, removed: resourceNamesUnsubscribe } = change;
      this.#stream.delta({ ...this.#node(), typeUrl, resourceNamesSubscribe, resourceNamesUnsubscribe });
    }
  }

  #receive(received: Received): void {
    const { typeUrl, nonce } = received;
    const subscription = this.type(typeUrl);
    this.log.push(received);
    const refusal = this.#options.judge?.(received);
    if (refusal === undefined) subscription.take(received, this.variant, this.log.length);
    else subscription.refuse(received);
    // Before the answer, as in Envoy: what a response refers to is asked for at once.
    const { version } = subscription;
    const errorDetail = refusal === undefined ? {} : { errorDetail: { code: 13, message: refusal } };
    if (this.variant === 'sotw') {
      const resourceNames = [...(subscription.names ?? [])];
      this.#stream.sotw({ typeUrl, versionInfo: version, responseNonce: nonce, resourceNames, ...errorDetail });
    } else this.#stream.delta({ typeUrl, responseNonce: nonce, ...errorDetail });
    if (refusal === undefined) this.#follow(typeUrl);
    this.#changed();
  }

  #follow(typeUrl: string): void {
    if (typeUrl === CLUSTER_TYPE) {
      const names = [...this.resources(CLUSTER_TYPE).values()].flatMap((cluster) => endpointsOf(cluster) ?? []);
      if (names.length > 0 || this.type(ENDPOINT_TYPE).requested) this.subscribe(ENDPOINT_TYPE, names.sort());
    }
    if (typeUrl === LISTENER_TYPE) {
      const listeners = [...this.resources(LISTENER_TYPE).values()];
      for (const [type, namesOf] of [
        [ROUTE_TYPE, routesOf],
        [EXTENSION_CONFIG_TYPE, extensionsOf],
      ] as const) {
        const names = [...new Set(listeners.flatMap(namesOf))].sort();
        if (names.length > 0 || this.type(type).requested) this.subscribe(type, names);
      }
    }
    if (this.#options.secrets && (typeUrl === CLUSTER_TYPE || typeUrl === LISTENER_TYPE)) {
      const resources = [CLUSTER_TYPE, LISTENER_TYPE].flatMap((type) => [...this.resources(type).values()]);
      const names = [...new Set(resources.flatMap(secretsOf))].sort();
      if (names.length > 0 || this.type(SECRET_TYPE).requested) this.subscribe(SECRET_TYPE, names);
    }
    const listeners = this.type(LISTENER_TYPE);
    const clusters = [this.type(CLUSTER_TYPE), this.type(ENDPOINT_TYPE)];
    if (!listeners.requested && clusters.every((one) => one.isSettled(this.variant))) this.#startListeners();
  }

  #startListeners(): void {
    this.subscribe(LISTENER_TYPE);
    const metadata = this.#options.node['metadata'] as JsonObject | undefined;
    if (this.#options.nameTable ?? metadata?.['DNS_CAPTURE'] !== undefined) this.subscribe(NAME_TABLE_TYPE);
  }

  #changed(): void {
    for (const look of [...this.#listeners]) look();
  }
}
