/**
 * Puts the sidecars and routers of the cases under a directory before an upstream Envoy, without an SDS server and with one, and
 * sends one request through each filter chain of a router:
 *   npm run e2e:conformance -- DIR [case-prefix…]
 * A line a proxy, the totals last. Needs root: each Envoy runs in a network namespace of its own.
 */
import { basename } from 'node:path';
import { type CaseProxy, caseDirectories, isRouter, readCase } from '../parity/case-files.ts';
import { TestAuthority } from '../support/certificates.ts';
import { noNamespaces } from '../support/network.ts';
import { WorkDir } from '../support/work-dir.ts';
import { acceptances } from './acceptance.ts';
import { routerTraffic } from './traffic/router-traffic.ts';

const [directory, ...prefixes] = process.argv.slice(2);
const missing = directory === undefined ? 'a directory with cases is needed: DIR' : noNamespaces();
if (directory === undefined || missing !== undefined) {
  process.stderr.write(`e2e:conformance: ${missing}\n`);
  process.exit(2);
}

/** How many of all. */
class Count {
  readonly what: string;
  good = 0;
  all = 0;

  constructor(what: string) {
    this.what = what;
  }

  add(good: number, all: number): void {
    this.good += good;
    this.all += all;
  }

  toString(): string {
    return `${this.good} of ${this.all} ${this.what}`;
  }
}

const say = (line: string): void => void process.stdout.write(`${line}\n`);

using files = new WorkDir('authority');
const authority = new TestAuthority(files.path);
const counts = {
  sidecar: [new Count('sidecars taken without SDS'), new Count('with SDS')],
  router: [new Count('routers taken without SDS'), new Count('with SDS')],
  requests: [new Count('requests through routers answered without SDS'), new Count('with SDS')],
} as const;
for (const path of caseDirectories(directory)) {
  const name = basename(path);
  if (prefixes.length > 0 && !prefixes.some((prefix) => name.startsWith(prefix))) continue;
  const corpusCase = readCase(path);
  const ofProxy = (name: string) => corpusCase.proxies.find((proxy) => proxy.name === name) as CaseProxy;
  for (const { proxy, sds, clusters, listeners, problems } of await acceptances(corpusCase, authority)) {
    const count = counts[isRouter(ofProxy(proxy)) ? 'router' : 'sidecar'][sds ? 1 : 0];
    count?.add(problems.length === 0 ? 1 : 0, 1);
    const verdict = problems.length === 0 ? 'taken' : 'NOT TAKEN';
    const what = `${clusters} clusters, ${listeners} listeners`;
    say(`${name} ${proxy} ${sds ? 'with SDS' : 'without SDS'}: ${verdict} (${what})`);
    for (const problem of problems) say(`    ${problem}`);
  }
  for await (const { router, sds, requests, failures } of routerTraffic(path, corpusCase, authority)) {
    const answered = requests - failures.length;
    counts.requests[sds ? 1 : 0]?.add(answered, requests);
    say(`${name} ${router} ${sds ? 'with SDS' : 'without SDS'}: ${answered} of ${requests} requests answered`);
    for (const failure of failures) say(`    ${failure}`);
  }
}
const all = Object.values(counts);
for (const pair of all) say(pair.join('; '));
process.exitCode = all.flat().every(({ good, all }) => good === all) ? 0 : 1;
