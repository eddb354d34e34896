import { compareStrings } from '../base/order.ts';
import type { CollectionView } from '../derive/graph.ts';
import type { ProxyScope } from '../model/scope.ts';

/** The scopes of proxies with one of each, kept up to date by what changed since it was last asked. */
export class ScopeMembers {
  readonly #view: CollectionView<string, ProxyScope>;
  #seen: number | undefined = undefined;
  readonly #scopes = new Map<string, ProxyScope>();
  readonly #members = new Map<ProxyScope, Set<string>>();
  /** Of each scope the first in order of their keys, so that it does not matter who came before. */
  readonly #firsts = new Map<ProxyScope, string>();

  /** @param view scopes by key of the proxy */
  constructor(view: CollectionView<string, ProxyScope>) {
    this.#view = view;
  }

  /** The key of one proxy of each scope. */
  firsts(): ReadonlyMap<ProxyScope, string> {
    const { revision } = this.#view;
    if (revision === this.#seen) return this.#firsts;
    const changes = this.#seen === undefined ? undefined : this.#view.changesSince(this.#seen);
    if (changes === undefined) {
      for (const id of [...this.#scopes.keys()]) this.#set(id, undefined);
      for (const [id, scope] of this.#view.entries()) this.#set(id, scope);
    } else {
      for (const id of changes.removed) this.#set(id, undefined);
      for (const [id, scope] of changes.changed) this.#set(id, scope);
    }
    this.#seen = revision;
    return this.#firsts;
  }

  #set(id: string, scope: ProxyScope | undefined): void {
    const before = this.#scopes.get(id);
    if (before === scope) return;
    if (before !== undefined) this.#leave(id, before);
    if (scope === undefined) {
      this.#scopes.delete(id);
      return;
    }
    this.#scopes.set(id, scope);
    const members = this.#members.get(scope) ?? new Set();
    this.#members.set(scope, members.add(id));
    const first = this.#firsts.get(scope);
    if (first === undefined || compareStrings(id, first) < 0) this.#firsts.set(scope, id);
  }

  #leave(id: string, scope: ProxyScope): void {
    const members = this.#members.get(scope);
    members?.delete(id);
    if (this.#firsts.get(scope) !== id) return;
    const [first] = [...(members ?? [])].sort(compareStrings);
    if (first !== undefined) this.#firsts.set(scope, first);
    else {
      this.#firsts.delete(scope);
      this.#members.delete(scope);
    }
  }
}
