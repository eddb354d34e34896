import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import type { ConfigSource } from '#generated/config/specs.ts';
import type { JsonObject } from '../base/json.ts';
import { MESH, NETWORKS } from '../config/mesh-files.ts';
import type { WholeFile } from '../config/parse.ts';
import type { ConfigSink } from '../config/sink.ts';
import { sourceAddress, sourceProblem } from '../config/source-address.ts';
import { EXIT, StartError } from '../process/failure.ts';
import { fileSource } from '../sources/file.ts';
import { mcpSource } from '../sources/mcp.ts';
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

/**
 * The sources of a control plane, in order of precedence: its files first, unless `configSources` of mesh.yaml lists them
 * elsewhere.
 *
 * @param listed what stands in it; another directory of files is told to the log
 */
export function configSources(options: SourcesOptions, listed: readonly ConfigSource[] = []): readonly Source[] {
  const { root, below = '', strict, settleMs, log } = options;
  const files = new Map([...WHOLE_FILES].map(([path, whole]) => [join(below, path), whole]));
  const own = fileSource({ base: root, root: join(below, CONFIG_DIRECTORY), files, strict, settle: settleMs, log });
  const sources = listed.flatMap((source): Source | readonly Source[] => {
    // What is wrong with it in itself is a finding about mesh.yaml.
    if (sourceProblem(source) !== undefined) return [];
    const { scheme, rest } = sourceAddress(source.address ?? '');
    if (scheme === 'xds') return mcpSource({ address: rest, node: mcpNode(), strict, log });
    if (resolve(root, rest) === resolve(root, below, CONFIG_DIRECTORY)) return own;
    log.warn(`configSources: ${source.address} is not read: files are read from ${join(root, CONFIG_DIRECTORY)} alone`);
    return [];
  });
  return sources.includes(own) ? sources : [own, ...sources];
}

/** @throws StartError when it can not be read at all */
export async function startSource(source: Source, sink: ConfigSink, signal: AbortSignal): Promise<void> {
  try {
    await source.start(sink, signal);
  } catch (error) {
    throw new StartError(EXIT.noInput, error instanceof Error ? error.message : String(error), { cause: error });
  }
}

/** As what a control plane reads another's configuration. */
function mcpNode(): JsonObject {
  return {
    id: `sidecar~127.0.0.1~${hostname()}.istio-system~istio-system.svc.cluster.local`,
    metadata: { GENERATOR: 'api', NAMESPACE: 'istio-system' },
    userAgentName: 'istiod-vm',
  };
}
