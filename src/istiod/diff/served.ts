import { existsSync } from 'node:fs';
import { isAbsolute, join, relative, resolve } from 'node:path';
import type { Diagnostic } from '../../base/diagnostic.ts';
import { formatDiagnostic } from '../../base/diagnostic.ts';
import { ConfigStore } from '../../config/store.ts';
import { Graph } from '../../derive/graph.ts';
import type { NodeDescription } from '../../model/node.ts';
import { createPipeline, type Pipeline } from '../../pipeline/pipeline.ts';
import { type ProxySession, ProxySessions } from '../../pipeline/session.ts';
import type { Environment } from '../../process/environment.ts';
import { EXIT, StartError } from '../../process/failure.ts';
import { fileSource } from '../../sources/file.ts';
import { LastGoodFiles } from '../../sources/last-good-files.ts';
import type { Source } from '../../sources/source.ts';
import { VipFile } from '../../sources/vip-file.ts';
import { effectiveEnvironment, meshOptions, readEnvironment, strictChecks } from '../environment.ts';
import { allFindings } from '../findings.ts';
import { readSettings } from '../settings.ts';
import { configSources, FILE_SOURCE, startSource, WHOLE_FILES } from '../sources.ts';
import { STATE_DIRECTORY } from '../state.ts';

const QUIET = { info: () => undefined, warn: () => undefined };

/** What a directory would be served as. */
export interface Served {
  readonly pipeline: Pipeline;
  readonly findings: readonly Diagnostic[];
  /** One for each node that is served. */
  readonly sessions: ReadonlyMap<NodeDescription, ProxySession>;
}

/**
 * Translates a directory as it would be served in a root: what was good last stays in force where something is wrong now, and
 * hosts keep the addresses that they were given. Nothing is written.
 *
 * @param root where istiod runs
 * @param directory a root, when it holds `etc/istio`; else a tree that takes the place of `etc/istio/conf`
 * @throws StartError when it can not be served at all
 */
export async function servedDirectory(
  root: string,
  directory: string,
  env: Environment,
  nodes: readonly NodeDescription[],
): Promise<Served> {
  const isRoot = existsSync(join(directory, 'etc/istio'));
  const configRoot = isRoot ? directory : root;
  const { settings, diagnostics } = readSettings(configRoot);
  if (settings === undefined) throw new StartError(EXIT.config, diagnostics.map(formatDiagnostic).join('\n'));
  const state = join(root, STATE_DIRECTORY);
  const copies = new LastGoodFiles({ directory: join(state, 'last-good'), log: QUIET });
  const lastGood = { load: (source: string) => copies.load(source), save: () => undefined };
  const graph = new Graph();
  const { namespace: rootNamespace, watchNamespaces, revision } = settings;
  const store = new ConfigStore(graph, { rootNamespace, watchNamespaces, revision, lastGood });
  const effective = effectiveEnvironment(env, readEnvironment(configRoot, lastGood)).env;
  const pipeline = createPipeline(graph, store.configs, meshOptions(effective, rootNamespace));
  const strict = strictChecks(effective);
  const [source] = isRoot
    ? configSources({ root: directory, strict, settleMs: 0, log: QUIET })
    : [treeSource(root, directory, strict)];
  const stop = new AbortController();
  if (source !== undefined) await startSource(source, store.source(FILE_SOURCE), stop.signal);
  stop.abort();
  const vips = new VipFile({ directory: join(state, 'vips'), log: QUIET });
  pipeline.mesh.vips.hold({ load: () => vips.load(), save: () => undefined });
  const sessions = new ProxySessions(pipeline);
  const connected = nodes.flatMap((node) => {
    const session = sessions.connect(node);
    return 'refused' in session ? [] : [[node, session] as const];
  });
  // Of another root, files are called such as an editor opens from here.
  const placed = ({ location, ...finding }: Diagnostic): Diagnostic => ({
    ...finding,
    location: isRoot && !isAbsolute(location.file) ? { ...location, file: join(directory, location.file) } : location,
  });
  return {
    pipeline,
    findings: allFindings(store, pipeline.analysis).map(placed),
    sessions: new Map(connected),
  };
}

/** The files of a root, with another tree in the place of its `etc/istio/conf`. */
function treeSource(root: string, directory: string, strict: boolean): Source {
  const below = relative(resolve(root), resolve(directory));
  const isBelow = below !== '' && below !== '..' && !below.startsWith('../');
  const base = isBelow ? root : '/';
  const from = (path: string): string => relative(base, resolve(path));
  const files = new Map([...WHOLE_FILES].map(([file, whole]) => [from(join(root, file)), whole]));
  return fileSource({ base, root: from(directory), files, strict, settle: 0, log: QUIET });
}
