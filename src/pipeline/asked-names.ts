import { cached } from '../base/cached.ts';
import { sameItems } from '../base/equal.ts';
import type { Graph, Input } from '../derive/graph.ts';
import type { ProxyScope } from '../model/scope.ts';

/** Names that the clients of a scope ask for, sorted; by type. What is made only for those who ask is made from these. */
export class AskedNames {
  readonly #graph: Graph;
  readonly #ofType = new Map<string, Input<ProxyScope, readonly string[]>>();

  constructor(graph: Graph) {
    this.#graph = graph;
  }

  of(typeUrl: string): Input<ProxyScope, readonly string[]> {
    return cached(this.#ofType, typeUrl, () => this.#graph.input(`asked ${typeUrl}`, { equals: sameItems }));
  }
}
