import { type ConfigKey, configKey } from './config.ts';
import { MESH_FILE, MESH_NETWORKS } from './kinds/mesh-config.ts';
import type { WholeFile } from './parse.ts';

/** mesh.yaml. */
export const MESH: WholeFile = { kind: MESH_FILE, name: 'mesh' };
/** meshNetworks.yaml. */
export const NETWORKS: WholeFile = { kind: MESH_NETWORKS, name: 'meshNetworks' };

export const MESH_KEY: ConfigKey = wholeFileKey(MESH);
export const NETWORKS_KEY: ConfigKey = wholeFileKey(NETWORKS);

export function wholeFileKey({ kind, name }: WholeFile): ConfigKey {
  return configKey('', kind.kind, '', name);
}
