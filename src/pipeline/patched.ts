import type { Mesh } from './mesh.ts';
import { type PatchedResources, patchedResources } from './patched-resources.ts';
import { PATCHED_CLUSTERS, PATCHED_LISTENERS, PATCHED_ROUTES } from './patched-types.ts';

/** Resources as patches of EnvoyFilters leave them, by type. */
export interface Patched {
  readonly clusters: PatchedResources;
  readonly listeners: PatchedResources;
  readonly routes: PatchedResources;
}

export function patchedTypes(mesh: Pick<Mesh, 'configs' | 'envoyFilters' | 'mergedGateway'>): Patched {
  return {
    clusters: patchedResources(mesh, PATCHED_CLUSTERS),
    listeners: patchedResources(mesh, PATCHED_LISTENERS),
    routes: patchedResources(mesh, PATCHED_ROUTES),
  };
}
