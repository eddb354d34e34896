/**
 * Puts the sidecars of the cases under a directory before an upstream Envoy, without an SDS server and with one:
 *   npm run e2e:conformance -- DIR [case-prefix…]
 * A line a sidecar that was not taken whole, the totals last. Needs root: each Envoy runs in a network namespace of its own.
 */
import { basename } from 'node:path';
import { caseDirectories, readCase } from '../parity/case-files.ts';
import { TestAuthority } from '../support/certificates.ts';
import { noNamespaces } from '../support/network.ts';
import { WorkDir } from '../support/work-dir.ts';
import { acceptances } from './.scratch-acceptance.ts';

const [directory, ...prefixes] = process.argv.slice(2);
const missing = directory === undefined ? 'a directory with cases is needed: DIR' : noNamespaces();
if (directory === undefined || missing !== undefined) {
  process.stderr.write(`e2e:conformance: ${missing}\n`);
  process.exit(2);
}

using files = new WorkDir('authority');
const authority = new TestAuthority(files.path);
const counts = { plain: [0, 0], sds: [0, 0] };
for (const path of caseDirectories(directory)) {
  const name = basename(path);
  if (prefixes.length > 0 && !prefixes.some((prefix) => name.startsWith(prefix))) continue;
  for (const { proxy, sds, clusters, listeners, problems } of await acceptances(readCase(path), authority)) {
    const count = sds ? counts.sds : counts.plain;
    count[0] = (count[0] ?? 0) + (problems.length === 0 ? 1 : 0);
    count[1] = (count[1] ?? 0) + 1;
    const verdict = problems.length === 0 ? 'taken' : 'NOT TAKEN';
    const what = `${clusters} clusters, ${listeners} listeners`;
    process.stdout.write(`${name} ${proxy} ${sds ? 'with SDS' : 'without SDS'}: ${verdict} (${what})\n`);
    for (const problem of problems) process.stdout.write(`    ${problem}\n`);
  }
}
process.stdout.write(
  `without SDS: ${counts.plain.join(' of ')} sidecars taken; with SDS: ${counts.sds.join(' of ')}\n`,
);
process.exitCode = counts.plain[0] === counts.plain[1] && counts.sds[0] === counts.sds[1] ? 0 : 1;
