import type { Diagnostic } from '../../src/base/diagnostic.ts';
import { MESH, NETWORKS } from '../../src/config/mesh-files.ts';
import { type ParseOptions, parseFile } from '../../src/config/parse.ts';
import type { ParsedFile } from '../../src/config/parsed.ts';
import { ConfigStore } from '../../src/config/store.ts';
import { Graph, type GraphOptions } from '../../src/derive/graph.ts';
import { allFindings } from '../../src/istiod/findings.ts';
import { DEFAULT_MESH_OPTIONS, type MeshOptions } from '../../src/pipeline/options.ts';
import { createPipeline, type Pipeline } from '../../src/pipeline/pipeline.ts';

/** Texts by path: `shop/web.yaml` below etc/istio/conf, or `mesh.yaml` and `meshNetworks.yaml`. */
export type MeshFiles = Readonly<Record<string, string>>;

const CONF = 'etc/istio/conf/';
const WHOLE = { 'mesh.yaml': MESH, 'meshNetworks.yaml': NETWORKS } as const;

function parsed(path: string, text: string): ParsedFile {
  const base: ParseOptions = { source: 'test', namespace: path.split('/', 1)[0] ?? '', strict: false };
  const whole = WHOLE[path as keyof typeof WHOLE];
  return whole === undefined
    ? parseFile(CONF + path, text, base)
    : parseFile(`etc/istio/${path}`, text, { ...base, namespace: '', whole });
}

/** A control plane without sources and servers, whose files a test writes. */
export interface FileMesh {
  readonly graph: Graph;
  readonly store: ConfigStore;
  readonly pipeline: Pipeline;
  /** Writes whole files in one batch; undefined deletes one. */
  write(files: Readonly<Record<string, string | undefined>>): void;
  findings(): readonly Diagnostic[];
}

export function fileMesh(
  files: MeshFiles,
  options: Partial<MeshOptions> = {},
  graphOptions: GraphOptions = {},
): FileMesh {
  const graph = new Graph(graphOptions);
  const store = new ConfigStore(graph, { rootNamespace: 'istio-system' });
  const sink = store.source('test');
  sink.replace(Object.entries(files).map(([path, text]) => parsed(path, text)));
  const pipeline = createPipeline(graph, store.configs, { ...DEFAULT_MESH_OPTIONS, ...options });
  return {
    graph,
    store,
    pipeline,
    write: (changes) =>
      sink.batch(() => {
        for (const [path, text] of Object.entries(changes)) {
          const file = path in WHOLE ? `etc/istio/${path}` : CONF + path;
          sink.apply(file, text === undefined ? undefined : parsed(path, text));
        }
      }),
    findings: () => allFindings(store, pipeline.analysis),
  };
}
