import { existsSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import type { Writable } from 'node:stream';
import type { MeshFile } from '#generated/config/specs.ts';
import type { Diagnostic } from '../../base/diagnostic.ts';
import { nearestName } from '../../base/nearest-name.ts';
import { CERTIFICATE_FILES } from '../../config/kinds/secret.ts';
import { MESH_KEY } from '../../config/mesh-files.ts';
import { ConfigStore } from '../../config/store.ts';
import { variableProblem } from '../../config/variables.ts';
import { Graph } from '../../derive/graph.ts';
import { ONE } from '../../pipeline/mesh.ts';
import { createPipeline } from '../../pipeline/pipeline.ts';
import type { Environment } from '../../process/environment.ts';
import { EXIT, StartError } from '../../process/failure.ts';
import { CERTIFICATE_SOURCE } from '../../sources/certificate-files.ts';
import { Certificates } from '../../sources/certificates.ts';
import { fileSource } from '../../sources/file.ts';
import type { Source } from '../../sources/source.ts';
import { effectiveEnvironment, meshOptions, readEnvironment, strictChecks } from '../environment.ts';
import { allFindings } from '../findings.ts';
import { tellTime } from '../hours.ts';
import { assertDirectory, rootAround } from '../root-around.ts';
import { authorityKeys, securityFindings, servingFindings } from '../security-files.ts';
import { OPTIONS_FILE, readSettings } from '../settings.ts';
import { configSources, startSource } from '../sources.ts';
import { type Checked, REPORTS, type ReportFormat } from './report.ts';

const QUIET = { info: () => undefined, warn: () => undefined };

/**
 * Validates a directory as it would be served, and prints its findings.
 *
 * @param directory a root, when it holds `etc/istio`; else a tree of configuration
 * @param env `CHECK_FORMAT`: `text` (the default), `json` or `sarif`; `CHECK_STRICT`: warnings count as errors
 * @returns exit code: 0 no errors (with `CHECK_STRICT` no warnings either), 2 otherwise
 * @throws StartError when there is nothing to check, and for a variable that is wrong
 */
export async function check(directory: string, env: Environment, out: Writable): Promise<number> {
  const format = env['CHECK_FORMAT'] || 'text';
  if (!isFormat(format)) {
    throw new StartError(EXIT.usage, `CHECK_FORMAT is "${format}": write one of ${Object.keys(REPORTS).join(', ')}`);
  }
  const strict = env['CHECK_STRICT'] ?? '';
  if (variableProblem('CHECK_STRICT', strict) !== undefined)
    throw new StartError(EXIT.usage, `CHECK_STRICT is "${strict}": write true or false`);
  assertDirectory(directory);
  const checked = await checkedDirectory(
    rootAround(directory, ['etc', 'etc/istio', 'etc/istio/conf']) ?? directory,
    env,
  );
  out.write(REPORTS[format](checked));
  const has = (severity: string) => checked.findings.some((finding) => finding.severity === severity);
  return has('error') || (checked.isStrict && has('warning')) ? 2 : 0;
}

function isFormat(text: string): text is ReportFormat {
  return Object.hasOwn(REPORTS, text);
}

/** Where paths in findings begin: below the working directory they are such as an editor opens from here. */
function places(directory: string): { readonly base: string; readonly below: string } {
  const whole = resolve(directory);
  const below = relative('', whole);
  if (below === '..' || below.startsWith('../')) return { base: dirname(whole), below: basename(whole) };
  return below === '' ? { base: dirname(whole), below: basename(whole) } : { base: resolve(''), below };
}

async function checkedDirectory(directory: string, env: Environment): Promise<Checked> {
  const isRoot = existsSync(join(directory, 'etc/istio'));
  const effective = effectiveEnvironment(env, isRoot ? readEnvironment(directory) : {}).env;
  const strict = strictChecks(effective);
  const { base, below } = places(directory);
  const isBelow = isRoot && base === resolve('');
  const { settings, diagnostics } = isRoot ? readSettings(directory) : { settings: undefined, diagnostics: [] };
  const rootNamespace = settings?.namespace ?? 'istio-system';
  const graph = new Graph();
  const { watchNamespaces = [], revision = '' } = settings ?? {};
  const store = new ConfigStore(graph, { rootNamespace, watchNamespaces, revision });
  const rooted = isBelow ? { root: base, below } : { root: directory };
  const source: Source | undefined = isRoot
    ? configSources({ ...rooted, strict, settleMs: 0, log: QUIET })[0]
    : fileSource({ base, root: below, strict, log: QUIET });
  const stop = new AbortController();
  if (source !== undefined) await startSource(source, store.source(source.name), stop.signal);
  stop.abort();
  const options = meshOptions(effective, rootNamespace);
  const { analysis, mesh: model } = createPipeline(graph, store.configs, options);
  tellTime(graph, model, Date.now());
  if (isRoot) {
    const named = model.fileSecrets.named.get(ONE);
    const own = authorityKeys(effective);
    new Certificates(store.source(CERTIFICATE_SOURCE), named, { root: directory, log: QUIET, own }).close();
  }
  const ofOptions = isBelow ? diagnostics.map((one) => movedTo(one, join(below, OPTIONS_FILE))) : diagnostics;
  const found = allFindings(store, analysis).map((one) =>
    isBelow && isOfCertificateFile(one) ? movedTo(one, join(below, one.location.file)) : one,
  );
  const ofSecurity = isRoot ? securityFindings(directory, effective) : [];
  const ofServing = isRoot && settings?.listen.grpcTls !== '' ? servingFindings(directory) : [];
  const placed = [...ofSecurity, ...ofServing].map((one) =>
    isBelow ? movedTo(one, join(below, one.location.file)) : one,
  );
  return {
    findings: [...ofOptions, ...found, ...emptyNamespaces(store), ...placed],
    files: store.counts().files,
    isStrict: strict,
  };
}

/** Namespaces that mesh.yaml has served, and that have no object: one that is misspelt leaves all of the meant one out. */
function* emptyNamespaces(store: ConfigStore): Generator<Diagnostic> {
  const { namespaces = [] } = (store.get(MESH_KEY)?.spec ?? {}) as MeshFile;
  if (namespaces.length === 0) return;
  const known = new Set(store.keys().map((key) => key.split('/')[2] ?? ''));
  for (const [i, namespace] of namespaces.entries()) {
    const location = store.place(MESH_KEY, ['namespaces', i]);
    if (known.has(namespace) || location === undefined) continue;
    const near = nearestName(namespace, known);
    const message = `no object is in "${namespace}"${near === undefined ? '' : `; did you mean "${near}"?`}`;
    const path = `namespaces[${i}]`;
    yield { severity: 'warning', code: 'IST0133', message, path, resource: 'MeshConfig/mesh', location };
  }
}

/** Files of certificates are called as configuration names them: relative to the root, or absolute. */
function isOfCertificateFile({ code, resource = '', location }: Diagnostic): boolean {
  return !isAbsolute(location.file) && (code === 'VM0501' || resource.startsWith(`${CERTIFICATE_FILES.kind}/`));
}

function movedTo(diagnostic: Diagnostic, file: string): Diagnostic {
  return { ...diagnostic, location: { ...diagnostic.location, file } };
}
