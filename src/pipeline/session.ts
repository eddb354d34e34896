import type { CollectionView, Watch } from '../derive/graph.ts';
import { type NodeDescription, type NodeRefusal, proxyOfNode } from '../model/node.ts';
import type { Proxy } from '../model/proxy.ts';
import type { ProxyScope } from '../model/scope.ts';
import type { EncodedResource, ResourceSet } from '../proto/resource-set.ts';
import { type Asked, askedOf } from './grpc/asked.ts';
import type { Pipeline } from './pipeline.ts';
import { ViewResourceSet } from './set-view.ts';

const NOTHING: ReadonlySet<string> = new Set();

type SetWatch = Watch<CollectionView<string, EncodedResource>>;

/** The sets of one scope that somebody uses, and who is to be told when one changes. */
class ScopeSets {
  readonly scope: ProxyScope;
  readonly sessions: Set<ProxySession> = new Set();
  readonly #pipeline: Pipeline;
  readonly #changed: (session: ProxySession) => void;
  readonly #live = new Map<string, { readonly watch: SetWatch; readonly set: ResourceSet }>();
  /** How many sessions ask for a name, by type. */
  readonly #asked = new Map<string, Map<string, number>>();

  constructor(pipeline: Pipeline, scope: ProxyScope, changed: (session: ProxySession) => void) {
    this.#pipeline = pipeline;
    this.scope = scope;
    this.#changed = changed;
  }

  resources(typeUrl: string): ResourceSet | undefined {
    const known = this.#live.get(typeUrl);
    if (known !== undefined) return known.set;
    const collection = this.#pipeline.resources.get(typeUrl);
    if (collection === undefined) return undefined;
    const watch = this.#pipeline.graph.watch(collection, this.scope, () => {
      set.moved();
      for (const session of this.sessions) this.#changed(session);
    });
    const set = new ViewResourceSet(watch.value);
    this.#live.set(typeUrl, { watch, set });
    return set;
  }

  /** A session wants other names than before. */
  ask(typeUrl: string, before: ReadonlySet<string>, now: ReadonlySet<string>): void {
    const known = this.#asked.get(typeUrl);
    const counts = known ?? new Map<string, number>();
    if (known === undefined) this.#asked.set(typeUrl, counts);
    const size = counts.size;
    for (const name of now) if (!before.has(name)) counts.set(name, (counts.get(name) ?? 0) + 1);
    let changed = counts.size > size;
    for (const name of before) {
      if (now.has(name)) continue;
      const left = (counts.get(name) ?? 1) - 1;
      if (left > 0) counts.set(name, left);
      else changed = counts.delete(name) || changed;
    }
    if (!changed) return;
    const { graph, mesh } = this.#pipeline;
    const names = counts.size === 0 ? undefined : [...counts.keys()].sort();
    graph.batch(() => mesh.asked.of(typeUrl).set(this.scope, names));
  }

  stop(): void {
    for (const { watch } of this.#live.values()) watch.stop();
    this.#live.clear();
  }
}

/** One connected proxy: it follows its scope, which may change with any configuration. */
export class ProxySession {
  readonly id: string;
  readonly proxy: Proxy;
  readonly #sessions: ProxySessions;
  readonly #key: string;
  readonly #scope: Watch<ProxyScope | undefined>;
  #sets: ScopeSets;
  /** Names for which resources are made for it, by type. */
  readonly #asked = new Map<string, ReadonlySet<string>>();
  #listener: (() => void) | undefined;

  constructor(sessions: ProxySessions, key: string, proxy: Proxy) {
    this.#sessions = sessions;
    this.#key = key;
    this.proxy = proxy;
    this.id = proxy.id;
    const { graph, mesh } = sessions.pipeline;
    graph.batch(() => mesh.proxies.set(key, proxy));
    this.#scope = graph.watch(mesh.scopeOf, key, (scope) => {
      if (scope !== undefined) this.#move(scope);
    });
    this.#sets = sessions.join(this, this.#scopeNow());
  }

  get scope(): ProxyScope {
    return this.#sets.scope;
  }

  #scopeNow(): ProxyScope {
    const scope = this.#scope.value;
    if (scope === undefined) throw new Error(`proxy ${this.#key} has no scope although it is connected`);
    return scope;
  }

  #move(scope: ProxyScope): void {
    this.#leave();
    this.#sets = this.#sessions.join(this, scope);
    for (const [typeUrl, names] of this.#asked) this.#sets.ask(typeUrl, NOTHING, names);
    this.#sessions.changed(this);
  }

  #leave(): void {
    for (const [typeUrl, names] of this.#asked) this.#sets.ask(typeUrl, names, NOTHING);
    this.#sessions.leave(this, this.#sets);
  }

  /** Takes what the client wants of a type now. @returns which other names belong to the answer */
  ask(typeUrl: string, names: ReadonlySet<string>, wildcard: boolean): Asked['implies'] {
    const asked = askedOf(this.scope, typeUrl, names, wildcard);
    if (asked === undefined) return undefined;
    const before = this.#asked.get(typeUrl) ?? NOTHING;
    this.#asked.set(typeUrl, new Set(asked.names));
    this.#sets.ask(typeUrl, before, asked.names);
    return asked.implies;
  }

  /** The live set of a type, undefined for a type that is not served. */
  resources(typeUrl: string): ResourceSet | undefined {
    return this.#sets.resources(typeUrl);
  }

  onChange(listener: () => void): void {
    this.#listener = listener;
  }

  /** Called once per batch that changed something of this session. */
  notify(): void {
    this.#listener?.();
  }

  close(): void {
    const { graph, mesh } = this.#sessions.pipeline;
    this.#listener = undefined;
    this.#scope.stop();
    this.#leave();
    graph.batch(() => mesh.proxies.set(this.#key, undefined));
  }
}

/** Connected proxies. Proxies of one scope share its sets. */
export class ProxySessions {
  readonly pipeline: Pipeline;
  readonly #scopes = new Map<ProxyScope, ScopeSets>();
  readonly #open = new Set<ProxySession>();
  #pending = new Set<ProxySession>();
  #count = 0;

  constructor(pipeline: Pipeline) {
    this.pipeline = pipeline;
  }

  connect(node: NodeDescription): ProxySession | NodeRefusal {
    const proxy = proxyOfNode(node);
    if ('refused' in proxy) return proxy;
    this.#count++;
    return new ProxySession(this, `${proxy.nodeId}#${this.#count}`, proxy);
  }

  get sessions(): ReadonlySet<ProxySession> {
    return this.#open;
  }

  /** By its id (`name.namespace`) or its whole node id; of several the last that connected. */
  named(name: string): ProxySession | undefined {
    return [...this.#open].findLast(({ proxy }) => proxy.id === name || proxy.nodeId === name);
  }

  join(session: ProxySession, scope: ProxyScope): ScopeSets {
    const sets = this.#scopes.get(scope) ?? new ScopeSets(this.pipeline, scope, (s) => this.changed(s));
    this.#scopes.set(scope, sets);
    sets.sessions.add(session);
    this.#open.add(session);
    return sets;
  }

  leave(session: ProxySession, sets: ScopeSets): void {
    sets.sessions.delete(session);
    this.#open.delete(session);
    this.#pending.delete(session);
    if (sets.sessions.size > 0) return;
    sets.stop();
    this.#scopes.delete(sets.scope);
  }

  /** Several sets may change in one batch; the session is told once, when all are up to date. */
  changed(session: ProxySession): void {
    if (this.#pending.size === 0) queueMicrotask(() => this.#flush());
    this.#pending.add(session);
  }

  #flush(): void {
    const told = this.#pending;
    this.#pending = new Set();
    for (const session of told) session.notify();
  }
}
