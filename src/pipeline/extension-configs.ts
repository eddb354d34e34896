import type { Graph } from '../derive/graph.ts';
import type { ProxyScope } from '../model/scope.ts';
import type { EncodedResource } from '../proto/resource-set.ts';
import { sameVersion } from './encoded-resource.ts';
import type { Mesh } from './mesh.ts';
import { derivePatchedExtensionConfigs } from './patched-extension-configs.ts';
import type { ScopedResources } from './resource-types.ts';
import { unionCollection } from './union-collection.ts';
import { deriveWasmExtensionConfigs } from './wasm-extension-configs.ts';

/**
 * Whoever has configs for single extensions, by the names under which filters refer to them. Names of two sources differ: a
 * source that makes them up begins them with a prefix of its own.
 */
export type ExtensionConfigSource = (graph: Graph, mesh: Mesh) => ScopedResources;

/** A new source is one derivation and one line. */
const SOURCES: readonly ExtensionConfigSource[] = [derivePatchedExtensionConfigs, deriveWasmExtensionConfigs];

/** Configs of extensions, which proxies ask for by name. */
export function deriveExtensionConfigs(graph: Graph, mesh: Mesh): ScopedResources {
  const sources = SOURCES.map((derive) => derive(graph, mesh));
  return unionCollection<ProxyScope, EncodedResource>(
    'extensionConfigs',
    (scope) => sources.map((source) => source.get(scope)),
    sameVersion,
  );
}
