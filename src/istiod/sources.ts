import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import type { ConfigSource } from '#generated/config/specs.ts';
import type { JsonObject } from '../base/json.ts';
import { MESH, NETWORKS } from '../config/mesh-files.ts';
import type { WholeFile } from '../config/parse.ts';
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
 * @param listed what stands in it; what is not read is told to the log
 */
export function configSources(options: SourcesOptions, listed: readonly ConfigSource[] = []): readonly Source[] {
  const { root, below = '', strict, settleMs, log } = options;
  const files = new Map([...WHOLE_FILES].map(([path, whole]) => [join(below, path), whole]));
  const own = fileSource({ base: root, root: join(below, CONFIG_DIRECTORY), files, strict, settle: settleMs, log });
  const sources = listed.flatMap(({ address = '', tlsSettings }): Source | readonly Source[] => {
    const [, scheme = '', rest = ''] = /^(?:([a-z0-9]+):\/\/)?(.*)$/.exec(address) ?? [];
    if (scheme === 'fs' && resolve(root, rest) === resolve(root, below, CONFIG_DIRECTORY)) return own;
    if ((tlsSettings?.mode ?? 'DISABLE') !== 'DISABLE') {
      log.warn(`configSources: ${address} is not read: it is to be read over TLS, and only plaintext is known`);
      return [];
    }
    if (scheme === 'xds' || scheme === '') return mcpSource({ address: rest, node: mcpNode(), strict, log });
    log.warn(`configSources: ${address} is not read: write fs:// with ${CONFIG_DIRECTORY}, or xds://host:port`);
    return [];
  });
  return sources.includes(own) ? sources : [own, ...sources];
}

/** As what a control plane reads another's configuration. */
function mcpNode(): JsonObject {
  return {
    id: `sidecar~127.0.0.1~${hostname()}.istio-system~istio-system.svc.cluster.local`,
    metadata: { GENERATOR: 'api', NAMESPACE: 'istio-system' },
    userAgentName: 'istiod-vm',
  };
}
