import type { Collection, Graph } from '../derive/graph.ts';
import type { ProxyScope } from '../model/scope.ts';
import type { EncodedResource } from '../proto/resource-set.ts';
import type { Mesh } from './mesh.ts';

/** The resources of one type: the set of each scope, by name. */
export type ScopedResources = Collection<ProxyScope, string, EncodedResource>;

export interface ResourceType {
  readonly typeUrl: string;
  derive(graph: Graph, mesh: Mesh): ScopedResources;
}

/** Every type that is served. A new one is one derivation and one line. */
export const RESOURCE_TYPES: readonly ResourceType[] = [];
