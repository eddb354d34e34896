import assert from 'node:assert/strict';
import { basename } from 'node:path';
import { after, test } from 'node:test';
import { caseDirectories, isRouter, readCase } from '../parity/case-files.ts';
import { TestAuthority } from '../support/certificates.ts';
import { WorkDir } from '../support/work-dir.ts';
import { ServedCase } from './acceptance.ts';
import { ALL, CORPUS, withoutCorpus } from './conditions.ts';
import { GATEWAY_TRAFFIC } from './traffic/gateways.ts';
import { routerTraffic } from './traffic/router-traffic.ts';
import { trafficFailures } from './traffic/send.ts';

/** TLS of every mode, addresses of a server's own, TCP, and Gateways that are merged. */
const FEW = /^(004|070|076|078|080)-/;
/** The kinds of configuration that routers are tried with. */
const EVERY = /^(0[0-8]\d|090|17[0-2]|19[01])-/;

const TIMEOUT_MS = 120_000;
const skip = withoutCorpus();

if (skip) test('requests through the routers of the corpus are answered', { skip }, () => {});
else {
  const files = new WorkDir('authority');
  after(() => files[Symbol.dispose]());
  const authority = new TestAuthority(files.path);
  for (const traffic of GATEWAY_TRAFFIC) {
    const directory = caseDirectories(CORPUS).find((path) => basename(path).startsWith(`${traffic.case}-`)) ?? '';
    const what = `requests through ${traffic.proxy} of ${basename(directory)} go the way that the configuration says`;
    test(what, { timeout: TIMEOUT_MS }, async () => {
      const corpusCase = readCase(directory);
      await using served = await ServedCase.start(corpusCase, authority);
      assert.deepEqual(await trafficFailures(traffic, corpusCase, served, authority), []);
    });
  }
  for (const directory of caseDirectories(CORPUS)) {
    const name = basename(directory);
    if (!(ALL ? EVERY : FEW).test(name)) continue;
    const corpusCase = readCase(directory);
    if (!corpusCase.proxies.some(isRouter)) continue;
    test(`a request through each filter chain of the routers of ${name} is answered`, {
      timeout: TIMEOUT_MS,
    }, async () => {
      for await (const { router, sds, failures } of routerTraffic(directory, corpusCase, authority)) {
        assert.deepEqual(failures, [], `${router} ${sds ? 'with' : 'without'} SDS`);
      }
    });
  }
}
