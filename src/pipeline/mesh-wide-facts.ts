import type { EnvoyFilter } from '#generated/config/specs.ts';
import { versionedNames } from '../model/analysis/envoy-filters.ts';
import type { MeshFacts } from '../model/analysis/facts.ts';
import type { Mesh } from './mesh.ts';

export type MeshWideFacts = Pick<MeshFacts, 'providers' | 'hasDefaultLogProvider' | 'isPatchedByVersion'>;

/** What analyzers ask about mesh.yaml, and about patches of Envoy's configuration. */
export function deriveMeshWideFacts(mesh: Mesh): MeshWideFacts {
  const byVersionedName = mesh.configs.index<string>('patchedByVersion', (config) =>
    config.kind === 'EnvoyFilter' ? new Set(versionedNames(config.spec as EnvoyFilter)) : [],
  );
  return {
    providers: () => (mesh.facet('extensionProviders') ?? []).map(({ name = '' }) => name),
    hasDefaultLogProvider: () => (mesh.facet('defaultProviders')?.accessLogging ?? []).length > 0,
    isPatchedByVersion: (key, name) => byVersionedName.get(name).some((other) => other < key),
  };
}
