import { existsSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import type { Writable } from 'node:stream';
import { formatDiagnostic } from '../base/diagnostic.ts';
import { ConfigStore } from '../config/store.ts';
import { Graph } from '../derive/graph.ts';
import { createPipeline } from '../pipeline/pipeline.ts';
import { fileSource } from '../sources/file.ts';
import {
  type Environment,
  effectiveEnvironment,
  meshOptions,
  strictChecks,
  writtenEnvironment,
} from './environment.ts';
import { EXIT, StartError } from './failure.ts';
import { allFindings } from './findings.ts';
import { readSettings } from './settings.ts';
import { configSources } from './sources.ts';

const QUIET = { info: () => undefined, warn: () => undefined };

/**
 * Validates a directory as it would be served, and prints its findings, one a line.
 *
 * @param directory a root, when it holds `etc/istio`; else a tree of configuration
 * @returns exit code: 0 no errors (with `CHECK_STRICT` no warnings either), 2 otherwise
 */
export async function check(directory: string, env: Environment, out: Writable): Promise<number> {
  if (!existsSync(directory) || !statSync(directory).isDirectory()) {
    throw new StartError(EXIT.noInput, `there is no directory "${directory}"`);
  }
  const strict = strictChecks(env);
  const isRoot = existsSync(join(directory, 'etc/istio'));
  const { settings, diagnostics } = isRoot ? readSettings(directory) : { settings: undefined, diagnostics: [] };
  const graph = new Graph();
  const store = new ConfigStore(graph, {
    rootNamespace: settings?.namespace ?? 'istio-system',
    watchNamespaces: settings?.watchNamespaces ?? [],
  });
  const stop = new AbortController();
  const whole = resolve(directory);
  // Below the working directory, paths in findings are such as an editor opens from here.
  const below = relative('', whole);
  const tree =
    below === '' || below.startsWith('..')
      ? { base: dirname(whole), root: basename(whole) }
      : { base: resolve(''), root: below };
  const source = isRoot
    ? configSources({ root: directory, strict, settleMs: 0, log: QUIET })[0]
    : fileSource({ ...tree, strict, log: QUIET });
  if (source !== undefined) await source.start(store.source(source.name), stop.signal);
  stop.abort();
  const mesh = isRoot ? join(directory, 'etc/istio/mesh.yaml') : '';
  const written = writtenEnvironment(existsSync(mesh) ? readFileSync(mesh, 'utf8') : undefined);
  const rootNamespace = settings?.namespace ?? 'istio-system';
  const options = meshOptions(effectiveEnvironment(env, written).env, rootNamespace);
  const { analysis } = createPipeline(graph, store.configs, options);
  const findings = [...diagnostics, ...allFindings(store, analysis)];
  const count = (severity: string) => findings.filter((finding) => finding.severity === severity).length;
  if (env['CHECK_FORMAT'] === 'json') out.write(`${JSON.stringify(findings, null, 2)}\n`);
  else {
    for (const finding of findings) out.write(`${formatDiagnostic(finding)}\n`);
    out.write(`${store.counts().files} files, ${count('error')} errors, ${count('warning')} warnings\n`);
  }
  return count('error') > 0 || (strict && count('warning') > 0) ? 2 : 0;
}
