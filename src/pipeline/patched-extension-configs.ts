import type { JsonObject } from '../base/json.ts';
import type { Graph } from '../derive/graph.ts';
import { addedExtensionConfigs } from '../envoy/patch/extension-configs.ts';
import type { PatchSet } from '../envoy/patch/patch.ts';
import type { ProxyScope } from '../model/scope.ts';
import type { EncodedResource } from '../proto/resource-set.ts';
import { violations } from '../proto/violations.ts';
import { encodedResource, sameVersion } from './encoded-resource.ts';
import type { PatchesWanted } from './envoy-filters.ts';
import type { Mesh } from './mesh.ts';
import type { ScopedResources } from './resource-types.ts';

const EXTENSION_CONFIGS: PatchesWanted = { name: 'extensionConfig', applyTo: new Set(['EXTENSION_CONFIG']) };
const TYPED_EXTENSION_CONFIG = 'envoy.config.core.v3.TypedExtensionConfig';

interface Added {
  readonly resource: EncodedResource;
  readonly isRefused: boolean;
}

/** What EnvoyFilters add of configs of extensions. */
export function derivePatchedExtensionConfigs(graph: Graph, mesh: Mesh): ScopedResources {
  const added = graph.derived<PatchSet, ReadonlyMap<string, Added>>(
    'addedExtensionConfigs',
    (patches) =>
      new Map(
        [...addedExtensionConfigs(patches)].map(([name, config]) => {
          const resource = encodedResource(TYPED_EXTENSION_CONFIG, name, config);
          return [name, { resource, isRefused: violations(TYPED_EXTENSION_CONFIG, config as JsonObject).length > 0 }];
        }),
      ),
  );
  return graph.collectionOfParts<ProxyScope, string, Added, EncodedResource>('patchedExtensionConfigs', {
    parts: (scope) => {
      const patches = mesh.envoyFilters.patchSet(scope, EXTENSION_CONFIGS);
      return patches === undefined ? new Map() : added.get(patches);
    },
    value: (_name, { resource, isRefused }, scope) =>
      isRefused && !scope.capabilities.istioExtensions ? undefined : resource,
    equals: sameVersion,
  });
}
