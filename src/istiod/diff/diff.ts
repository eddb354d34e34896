import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { type Diagnostic, formatDiagnostic } from '../../base/diagnostic.ts';
import type { JsonValue } from '../../base/json.ts';
import type { NodeDescription } from '../../model/node.ts';
import type { Environment } from '../../process/environment.ts';
import { EXIT, StartError } from '../../process/failure.ts';
import { assertDirectory, rootAround } from '../root-around.ts';
import { runningIstiod } from '../running.ts';
import { compared } from './compare.ts';
import { nodesIn, nodesInFile } from './nodes.ts';
import { jsonReport, textReport } from './report.ts';
import { servedDirectory } from './served.ts';

const REPORTS: Readonly<Record<string, typeof textReport>> = { text: textReport, json: jsonReport };

/**
 * Says what would change for which proxies if a directory were served in the place of what the working directory holds.
 *
 * @param root where istiod runs
 * @param directory a root, when it holds `etc/istio`, or its `etc` or `etc/istio`; else a tree that takes the place of `etc/istio/conf`
 * @param env `DIFF_PROXIES`: a file with the nodes of the proxies; by default those that are connected to the istiod that runs
 *   in `root`. `DIFF_FORMAT`: `text` (the default) or `json`
 * @returns exit code: 0 nothing changes, 1 something does
 * @throws StartError when it can not be compared
 */
export async function diff(root: string, directory: string, env: Environment, out: Writable): Promise<number> {
  const format = env['DIFF_FORMAT'] || 'text';
  const report = Object.hasOwn(REPORTS, format) ? REPORTS[format] : undefined;
  if (report === undefined) throw new StartError(EXIT.usage, `DIFF_FORMAT is "${format}": write text or json`);
  assertDirectory(directory);
  if (!existsSync(join(root, 'etc/istio'))) {
    const advice = 'run istiod diff in the working directory of istiod';
    throw new StartError(EXIT.noInput, `there is no etc/istio here to compare with: ${advice}`);
  }
  const nodes = await proxiesToCompare(root, env);
  const before = await servedDirectory(root, root, env, nodes);
  const after = await servedDirectory(root, rootAround(directory, ['etc', 'etc/istio']) ?? directory, env, nodes);
  const known = new Set(before.findings.map(sameFinding));
  const errors = after.findings.filter((one) => one.severity === 'error' && !known.has(sameFinding(one)));
  const difference = { ...compared(before, after, nodes), errors };
  out.write(report(difference));
  return difference.groups.length === 0 ? 0 : 1;
}

/** A finding without its place: the file is another one. */
function sameFinding(finding: Diagnostic): string {
  return formatDiagnostic({ ...finding, location: { file: '', line: 0, column: 0 } }) + (finding.resource ?? '');
}

async function proxiesToCompare(root: string, env: Environment): Promise<readonly NodeDescription[]> {
  const file = env['DIFF_PROXIES'];
  if (file) return nodesInFile(file);
  const istiod = runningIstiod(root);
  if (istiod === undefined) {
    const advice = 'start it, or name a file with nodes as DIFF_PROXIES, such as /debug/adsz answers';
    throw new StartError(EXIT.unavailable, `no istiod runs here whose proxies could be compared: ${advice}`);
  }
  const nodes = nodesIn(await istiod.get<JsonValue>('/debug/adsz'));
  if (nodes.length === 0) {
    const advice = 'connect some, or name a file with nodes as DIFF_PROXIES';
    throw new StartError(EXIT.unavailable, `no proxy is connected to the istiod that runs here: ${advice}`);
  }
  return nodes;
}
