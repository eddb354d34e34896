import type { Variant } from '../../src/xds/events.ts';
import { ruleOf } from '../../src/xds/push-order.ts';
import { type Fixture, NODE, type Received, type TestClient, type TestStream } from './harness.ts';

/** How a model client says no. */
export type Refusal = 'silent about names' | 'by name';

interface TypeModel {
  readonly typeUrl: string;
  readonly names: Set<string>;
  readonly wildcard: boolean;
  /** Name to text, and to version where the variant has it. */
  readonly texts: Map<string, string>;
  readonly versions: Map<string, string>;
  version: string;
  nonce: string;
}

/**
 * A client that does with responses what an Envoy does: it takes or refuses each as a whole, keeps what it has over
 * reconnections, and forgets what it unsubscribes from. It refuses resources whose text begins with `bad`.
 */
export class ModelClient {
  readonly #open: () => TestStream;
  readonly #variant: Variant;
  readonly #node: typeof NODE;
  readonly #refusal: Refusal;
  readonly #types = new Map<string, TypeModel>();
  #stream: TestStream;
  #requested = false;
  /** Content of refused responses since anything was changed, to notice one that is sent again. */
  readonly #refused = new Set<string>();

  constructor(fixture: Fixture, client: TestClient, variant: Variant, cluster: string, refusal: Refusal) {
    this.#open = () => fixture.stream(variant, client);
    this.#variant = variant;
    this.#node = { ...NODE, cluster };
    this.#refusal = refusal;
    this.#stream = this.#open();
  }

  /** What it has of a type and is subscribed to. */
  texts(typeUrl: string): Readonly<Record<string, string>> {
    const type = this.#types.get(typeUrl);
    if (type === undefined) return {};
    return Object.fromEntries([...type.texts].filter(([name]) => type.wildcard || type.names.has(name)).sort());
  }

  names(typeUrl: string): ReadonlySet<string> {
    return this.#types.get(typeUrl)?.names ?? new Set();
  }

  /** Begins with a type: named ones with names, others with everything. */
  open(typeUrl: string, names: readonly string[]): void {
    const wildcard = ruleOf(typeUrl).wildcardByDefault;
    const type: TypeModel = {
      typeUrl,
      wildcard,
      names: new Set(names),
      texts: new Map(),
      versions: new Map(),
      version: '',
      nonce: '',
    };
    this.#types.set(typeUrl, type);
    this.#first(type);
  }

  add(typeUrl: string, names: readonly string[]): void {
    const type = this.#types.get(typeUrl);
    if (type === undefined) return;
    for (const name of names) type.names.add(name);
    if (this.#variant === 'delta') this.#stream.delta({ typeUrl, resourceNamesSubscribe: names });
    else this.#list(type);
  }

  drop(typeUrl: string, names: readonly string[]): void {
    const type = this.#types.get(typeUrl);
    if (type === undefined) return;
    for (const name of names) {
      type.names.delete(name);
      type.texts.delete(name);
      type.versions.delete(name);
    }
    if (this.#variant === 'delta') this.#stream.delta({ typeUrl, resourceNamesUnsubscribe: names });
    else this.#list(type);
  }

  /** A new stream, to which it comes with what it has. */
  reconnect(): void {
    this.#stream.end();
    this.#stream = this.#open();
    this.#requested = false;
    this.#refused.clear();
    for (const type of this.#types.values()) this.#first(type);
  }

  /** The provider, or the subscription, changed: a version that was refused may come again. */
  changed(): void {
    this.#refused.clear();
  }

  /** Reads and answers all that is under way; returns how many responses there were. */
  async pump(): Promise<number> {
    if (!this.#requested) return 0;
    const responses = await this.#stream.settled();
    const refused = new Set(this.#refused);
    for (const received of responses) this.#answer(received, refused);
    return responses.length;
  }

  close(): void {
    this.#stream.end();
  }

  #first(type: TypeModel): void {
    const node = this.#requested ? {} : { node: this.#node };
    this.#requested = true;
    const names = [...type.names];
    type.nonce = '';
    if (this.#variant === 'sotw') {
      this.#stream.sotw({ ...node, typeUrl: type.typeUrl, resourceNames: names, versionInfo: type.version });
    } else {
      const initialResourceVersions = Object.fromEntries(type.versions);
      this.#stream.delta({ ...node, typeUrl: type.typeUrl, resourceNamesSubscribe: names, initialResourceVersions });
    }
  }

  #list({ typeUrl, names, version, nonce }: TypeModel): void {
    this.#stream.sotw({ typeUrl, resourceNames: [...names], versionInfo: version, responseNonce: nonce });
  }

  #answer(received: Received, refused: ReadonlySet<string>): void {
    const type = this.#types.get(received.typeUrl);
    if (type === undefined) return;
    const bad = Object.entries(received.resources).filter(([, text]) => text.startsWith('bad'));
    const names = this.#variant === 'sotw' ? [...type.names] : [];
    type.nonce = received.nonce;
    if (bad.length > 0) {
      const content = JSON.stringify([received.typeUrl, received.resources, received.removed]);
      if (refused.has(content)) throw new Error(`a refused response was sent again: ${content}`);
      this.#refused.add(content);
      const words = this.#refusal === 'by name' ? bad.map(([name]) => `${name}: bad`).join(', ') : 'something is bad';
      this.#stream.nack(received, words, names);
      // An Envoy that names what it refuses took the rest.
      if (this.#refusal === 'by name') this.#take(type, received, new Set(bad.map(([name]) => name)));
      return;
    }
    this.#take(type, received, new Set());
    type.version = received.version;
    this.#stream.ack(received, names);
  }

  #take(type: TypeModel, { resources, versions, removed }: Received, except: ReadonlySet<string>): void {
    if (this.#variant === 'sotw' && ruleOf(type.typeUrl).whole) {
      for (const name of type.texts.keys()) if (resources[name] === undefined) type.texts.delete(name);
    }
    for (const [name, text] of Object.entries(resources)) {
      if (except.has(name)) continue;
      type.texts.set(name, text);
      type.versions.set(name, versions[name] ?? '');
    }
    for (const name of removed) {
      type.texts.delete(name);
      type.versions.delete(name);
    }
  }
}
