import { Buffer } from 'node:buffer';
import { contentVersion } from '../../src/base/hash.ts';
import { compareStrings } from '../../src/base/order.ts';
import type { Node } from '../../src/proto/discovery.ts';
import type { EncodedResource, ResourceDelta, ResourceSet } from '../../src/proto/resource-set.ts';
import type { Ack, Nack, Peer, ResourceProvider, Session } from '../../src/xds/provider.ts';

/** A message whose field 1 is the name, as in every type that tests use, and whose field 15 is some text. */
export function fakeResource(name: string, text: string): EncodedResource {
  const bytes = Buffer.concat([field(1, name), field(15, text)]);
  return { name, version: contentVersion(bytes), bytes };
}

/** The name and text of such a message. */
export function readFakeResource(bytes: Uint8Array): { readonly name: string; readonly text: string } {
  const texts = new Map<number, string>();
  const buffer = Buffer.from(bytes);
  for (let at = 0; at < buffer.length; ) {
    const number = buffer.readUInt8(at++) >>> 3;
    let length = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = buffer.readUInt8(at++);
      length += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) break;
    }
    texts.set(number, buffer.toString('utf8', at, at + length));
    at += length;
  }
  return { name: texts.get(1) ?? '', text: texts.get(15) ?? '' };
}

function field(number: number, text: string): Buffer {
  const bytes = Buffer.from(text);
  const length: number[] = [];
  for (let rest = bytes.length; ; rest = Math.floor(rest / 128)) {
    length.push(rest < 128 ? rest : (rest % 128) | 0x80);
    if (rest < 128) break;
  }
  return Buffer.concat([Uint8Array.of((number << 3) | 2, ...length), bytes]);
}

/** A set that a test edits. It remembers as many revisions as it is told to. */
export class FakeSet implements ResourceSet {
  readonly #memory: number;
  readonly #resources = new Map<string, EncodedResource>();
  /** Names that each revision touched; the newest last. */
  #history: { readonly revision: number; readonly names: readonly string[] }[] = [];
  #revision = 1;

  constructor(texts: Readonly<Record<string, string>> = {}, memory = 8) {
    this.#memory = memory;
    this.edit(texts);
  }

  get revision(): number {
    return this.#revision;
  }

  get size(): number {
    return this.#resources.size;
  }

  /** Sets the text of each name; undefined removes it. One revision, or none when nothing changes. */
  edit(texts: Readonly<Record<string, string | undefined>>): void {
    const names: string[] = [];
    for (const [name, text] of Object.entries(texts)) {
      const resource = text === undefined ? undefined : fakeResource(name, text);
      if (this.#resources.get(name)?.version === resource?.version) continue;
      names.push(name);
      if (resource === undefined) this.#resources.delete(name);
      else this.#resources.set(name, resource);
    }
    if (names.length === 0) return;
    this.#revision++;
    this.#history = [...this.#history, { revision: this.#revision, names }].slice(-this.#memory);
  }

  get(name: string): EncodedResource | undefined {
    return this.#resources.get(name);
  }

  values(): Iterable<EncodedResource> {
    return [...this.#resources.values()].sort((a, b) => compareStrings(a.name, b.name));
  }

  changesSince(revision: number): ResourceDelta | undefined {
    const later = this.#history.filter((entry) => entry.revision > revision);
    if (later.length !== this.#revision - revision) return undefined;
    const names = [...new Set(later.flatMap((entry) => entry.names))].sort(compareStrings);
    return {
      changed: names.map((name) => this.#resources.get(name)).filter((resource) => resource !== undefined),
      removed: names.filter((name) => !this.#resources.has(name)),
    };
  }
}

/** Sets by type URL: what the proxies of one scope are served. */
export type FakeScope = Map<string, FakeSet>;

export class FakeSession implements Session {
  readonly id: string;
  readonly node: Node;
  readonly peer: Peer;
  readonly acks: { readonly typeUrl: string; readonly ack: Ack }[] = [];
  readonly nacks: { readonly typeUrl: string; readonly nack: Nack }[] = [];
  closed = false;
  readonly #implies: FakeProvider['implies'];
  #scope: FakeScope;
  #listener: () => void = () => {};

  constructor(node: Node, peer: Peer, scope: FakeScope, implies: FakeProvider['implies']) {
    this.#implies = implies;
    this.id = node.id;
    this.node = node;
    this.peer = peer;
    this.#scope = scope;
  }

  resources(typeUrl: string): ResourceSet | undefined {
    return this.#scope.get(typeUrl);
  }

  ask(_typeUrl: string, names: ReadonlySet<string>): ReturnType<FakeProvider['implies']> {
    return this.#implies(new Set(names));
  }

  onChange(listener: () => void): void {
    this.#listener = listener;
  }

  onAck(typeUrl: string, ack: Ack): void {
    this.acks.push({ typeUrl, ack });
  }

  onNack(typeUrl: string, nack: Nack): void {
    this.nacks.push({ typeUrl, nack });
  }

  close(): void {
    this.closed = true;
    this.#listener = () => {};
  }

  changed(): void {
    this.#listener();
  }

  /** The proxy now belongs to another scope: each set is replaced. */
  move(scope: FakeScope): void {
    this.#scope = scope;
    this.#listener();
  }
}

/** Serves every node from one scope, unless a test gives its cluster another or moves its session. */
export class FakeProvider implements ResourceProvider {
  readonly scope: FakeScope;
  /** By the node's cluster. */
  readonly scopes: Map<string, FakeScope> = new Map();
  readonly sessions: FakeSession[] = [];
  /** Throws to refuse a node. */
  admit: (node: Node, peer: Peer) => void = () => {};
  /** Which resources belong to the answer for these names. */
  implies: (names: ReadonlySet<string>) => ((name: string) => boolean) | undefined = () => undefined;

  constructor(sets: Readonly<Record<string, Readonly<Record<string, string>>>>) {
    this.scope = new Map(Object.entries(sets).map(([typeUrl, texts]) => [typeUrl, new FakeSet(texts)]));
  }

  connect(node: Node, peer: Peer): FakeSession {
    this.admit(node, peer);
    const session = new FakeSession(node, peer, this.scopes.get(node.cluster) ?? this.scope, this.implies);
    this.sessions.push(session);
    return session;
  }

  set(typeUrl: string): FakeSet {
    const set = this.scope.get(typeUrl) ?? new FakeSet();
    this.scope.set(typeUrl, set);
    return set;
  }

  /** One batch: edits by type URL, then one notice to each open session. */
  edit(edits: Readonly<Record<string, Readonly<Record<string, string | undefined>>>>): void {
    for (const [typeUrl, texts] of Object.entries(edits)) this.set(typeUrl).edit(texts);
    this.notify();
  }

  notify(): void {
    for (const session of this.sessions) if (!session.closed) session.changed();
  }

  /** The newest session. */
  get last(): FakeSession {
    const session = this.sessions.at(-1);
    if (session === undefined) throw new Error('no session was opened');
    return session;
  }
}
