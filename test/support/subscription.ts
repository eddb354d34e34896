import { Buffer } from 'node:buffer';
import { CLUSTER_TYPE, LISTENER_TYPE, messageName } from '../../src/proto/type-urls.ts';
import type { Variant } from '../../src/xds/events.ts';
import type { Received, ReceivedResource } from './ads-stream.ts';

/** A resource that a client had and has no longer. */
export interface Removal {
  readonly name: string;
  /** The response that removed it, as its place in the client's log: 1 is the first. */
  readonly response: number;
}

/** A resource that a client was given. */
export interface Change extends ReceivedResource {
  readonly response: number;
  /** Whether it is other than what the client had. */
  readonly differs: boolean;
}

/** In the state of the world, responses of these types list everything: what is left out is gone. */
const WHOLE: ReadonlySet<string> = new Set([CLUSTER_TYPE, LISTENER_TYPE]);

/** What a client wants of one type and what it has of it. */
export class Subscription {
  readonly typeUrl: string;
  readonly held: Map<string, ReceivedResource> = new Map();
  /** Names that are wanted and that the server said it does not have. */
  readonly missing: Set<string> = new Set();
  readonly removals: Removal[] = [];
  readonly changes: Change[] = [];
  /** Undefined: everything. */
  names: ReadonlySet<string> | undefined;
  /** Whether it was asked for on this stream. */
  requested = false;
  /** Of the last response that was taken. */
  version = '';
  nonce = '';
  /** Responses since the start, refused ones too. */
  responses = 0;
  /** Whether a response came since names were last added on this stream. */
  #answered = false;

  constructor(typeUrl: string) {
    this.typeUrl = typeUrl;
  }

  /** @returns what a request has to tell; undefined: nothing */
  want(names: Iterable<string> | undefined): { readonly added: string[]; readonly removed: string[] } | undefined {
    if (names === undefined) {
      this.names = undefined;
      return this.requested ? undefined : { added: [], removed: [] };
    }
    const before = this.names ?? new Set();
    const after = new Set(names);
    const added = [...after].filter((name) => !before.has(name));
    const removed = [...before].filter((name) => !after.has(name));
    if (this.requested && added.length === 0 && removed.length === 0) return undefined;
    this.names = after;
    for (const name of removed) {
      this.held.delete(name);
      this.missing.delete(name);
    }
    if (added.length > 0) this.#answered = false;
    return { added, removed };
  }

  /** A new stream has begun. */
  restart(): void {
    this.nonce = '';
    this.missing.clear();
    // A server that finds nothing to tell about what the client has does not answer.
    this.#answered = this.held.size > 0;
  }

  /** @param response its place in the client's log */
  take(received: Received, variant: Variant, response: number): void {
    this.#note(received);
    this.version = received.version;
    for (const resource of received.resources) {
      const before = this.held.get(resource.name);
      const differs = before === undefined || Buffer.compare(before.bytes, resource.bytes) !== 0;
      this.changes.push({ ...resource, response, differs });
      this.held.set(resource.name, resource);
      this.missing.delete(resource.name);
    }
    const listed = new Set(received.resources.map(({ name }) => name));
    const whole = variant === 'sotw' && WHOLE.has(this.typeUrl);
    const gone = whole ? [...this.held.keys()].filter((name) => !listed.has(name)) : received.removed;
    for (const name of gone) {
      if (this.held.delete(name)) this.removals.push({ name, response });
      if (this.names?.has(name)) this.missing.add(name);
    }
  }

  refuse(received: Received): void {
    this.#note(received);
  }

  /** Whether all that is wanted was answered. */
  isSettled(variant: Variant): boolean {
    if (!this.requested) return true;
    if (this.names === undefined) return this.#answered;
    if ([...this.names].every((name) => this.held.has(name) || this.missing.has(name))) return true;
    // The state of the world has no word for a name that does not exist: any answer is the answer.
    return variant === 'sotw' && this.#answered;
  }

  toString(): string {
    const short = messageName(this.typeUrl).split('.').at(-1);
    const wanted = this.names === undefined ? 'all' : this.names.size;
    return `${this.held.size} of ${wanted} ${short} in ${this.responses} responses`;
  }

  #note({ nonce }: Received): void {
    this.nonce = nonce;
    this.responses++;
    this.#answered = true;
  }
}
