import assert from 'node:assert/strict';
import { basename } from 'node:path';
import { after, test } from 'node:test';
import { caseDirectories, readCase } from '../parity/case-files.ts';
import { TestAuthority } from '../support/certificates.ts';
import { WorkDir } from '../support/work-dir.ts';
import { acceptances } from './acceptance.ts';
import { ALL, CORPUS, withoutCorpus } from './conditions.ts';

/** Sidecars of all ways of interception, of both families, with TLS of every mode; routers with certificates and without. */
const FEW = /^(004|032|056|070|078|089|090|130|135)-/;
/** The kinds of configuration that are translated today. */
const EVERY = /^(0\d\d|10\d|13\d|140|142|143|17[0-2]|18\d|19[01])-/;

const skip = withoutCorpus();

if (skip) test('an upstream Envoy takes what the sidecars and routers of the corpus are sent', { skip }, () => {});
else {
  const files = new WorkDir('authority');
  after(() => files[Symbol.dispose]());
  const authority = new TestAuthority(files.path);
  for (const directory of caseDirectories(CORPUS)) {
    const name = basename(directory);
    if (!(ALL ? EVERY : FEW).test(name)) continue;
    for (const variant of ALL ? (['delta', 'sotw'] as const) : (['delta'] as const)) {
      const what = `an upstream Envoy takes all that the proxies of ${name} are sent, ${variant}`;
      test(what, { timeout: 60_000 }, async () => {
        for (const { proxy, sds, problems } of await acceptances(readCase(directory), authority, variant)) {
          assert.deepEqual(problems, [], `${proxy} ${sds ? 'with' : 'without'} SDS`);
        }
      });
    }
  }
}
