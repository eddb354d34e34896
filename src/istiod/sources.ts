import { MESH, NETWORKS } from '../config/mesh-files.ts';
import type { WholeFile } from '../config/parse.ts';
import { fileSource } from '../sources/file.ts';
import type { Source, SourceLog } from '../sources/source.ts';

export const CONFIG_DIRECTORY = 'etc/istio/conf';

const WHOLE_FILES: ReadonlyMap<string, WholeFile> = new Map([
  ['etc/istio/mesh.yaml', MESH],
  ['etc/istio/meshNetworks.yaml', NETWORKS],
]);

export interface SourcesOptions {
  /** The working directory. */
  readonly root: string;
  readonly strict: boolean;
  readonly settleMs: number;
  readonly log: SourceLog;
}

/** The sources of a control plane, in order of precedence. */
export function configSources({ root, strict, settleMs, log }: SourcesOptions): readonly Source[] {
  return [fileSource({ base: root, root: CONFIG_DIRECTORY, files: WHOLE_FILES, strict, settle: settleMs, log })];
}
