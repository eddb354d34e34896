import type { MeshFile as MeshFileSpec, MeshNetworks as MeshNetworksSpec } from '#generated/config/specs.ts';
import { defineKind, type KindDefinition, type ObjectMeta } from '../kind.ts';
import { MeshFile } from '../schema/mesh-config.ts';
import { MeshNetworks } from '../schema/mesh-networks.ts';

/** For `validateSpec` of a file that is no object. */
export const NO_METADATA: ObjectMeta = { name: '', namespace: '', labels: {}, annotations: {} };

const FILE = { group: 'mesh.istio.io', versions: ['v1alpha1'], scope: 'Cluster', specField: 'root' } as const;

/** The file mesh.yaml, read with `validateSpec` like an object. */
export const MESH_FILE: KindDefinition<MeshFileSpec> = defineKind({
  ...FILE,
  kind: 'MeshConfig',
  plural: 'meshconfigs',
  schema: MeshFile,
});

/** The file meshNetworks.yaml, read with `validateSpec` like an object. */
export const MESH_NETWORKS: KindDefinition<MeshNetworksSpec> = defineKind({
  ...FILE,
  kind: 'MeshNetworks',
  plural: 'meshnetworks',
  schema: MeshNetworks,
});
