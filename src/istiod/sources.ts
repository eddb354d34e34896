import { join } from 'node:path';
import { MESH, NETWORKS } from '../config/mesh-files.ts';
import type { WholeFile } from '../config/parse.ts';
import { fileSource } from '../sources/file.ts';
import type { Source, SourceLog } from '../sources/source.ts';

export const CONFIG_DIRECTORY = 'etc/istio/conf';

export const MESH_FILE = 'etc/istio/mesh.yaml';
/** The name of the source of files. */
export const FILE_SOURCE: string = `file:${CONFIG_DIRECTORY}`;

/** Files that hold one thing each. */
export const WHOLE_FILES: ReadonlyMap<string, WholeFile> = new Map([
  [MESH_FILE, MESH],
  ['etc/istio/meshNetworks.yaml', NETWORKS],
]);

export interface SourcesOptions {
  /** Paths in findings are relative to it. */
  readonly root: string;
  /** The directory in it that holds `etc/istio`; the root itself unless given. */
  readonly below?: string;
  readonly strict: boolean;
  readonly settleMs: number;
  readonly log: SourceLog;
}

/** The sources of a control plane, in order of precedence. */
export function configSources({ root, below = '', strict, settleMs, log }: SourcesOptions): readonly Source[] {
  const files = new Map([...WHOLE_FILES].map(([path, whole]) => [join(below, path), whole]));
  return [fileSource({ base: root, root: join(below, CONFIG_DIRECTORY), files, strict, settle: settleMs, log })];
}
