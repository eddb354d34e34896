import assert from 'node:assert/strict';
import { basename } from 'node:path';
import { after, test } from 'node:test';
import { caseDirectories, readCase } from '../parity/case-files.ts';
import { TestAuthority } from '../support/certificates.ts';
import { WorkDir } from '../support/work-dir.ts';
import { ServedCase } from './acceptance.ts';
import { ALL, CORPUS, withoutCorpus } from './conditions.ts';
import { PATCH_TRAFFIC } from './traffic/patches.ts';
import { POLICY_TRAFFIC } from './traffic/policies.ts';
import { RULE_TRAFFIC } from './traffic/rules.ts';
import { trafficFailures } from './traffic/send.ts';
import { SERVICE_TRAFFIC } from './traffic/services.ts';
import { TELEMETRY_TRAFFIC } from './traffic/telemetry.ts';

/** REDIRECT, TPROXY and NONE; in and out; HTTP of both versions, TCP and TLS; with an SDS server and without. */
const FEW = [
  '001',
  '004',
  '010',
  '013',
  '017',
  '032',
  '038',
  '044',
  '055',
  '056',
  '085',
  '087',
  '089',
  '090',
  '100',
  '103',
  '108',
  '121',
  '123',
  '133',
];

const skip = withoutCorpus();

if (skip)
  test('requests through the sidecars of the corpus go the way that the configuration says', { skip }, () => {});
else {
  const files = new WorkDir('authority');
  after(() => files[Symbol.dispose]());
  const authority = new TestAuthority(files.path);
  const table = [...SERVICE_TRAFFIC, ...RULE_TRAFFIC, ...POLICY_TRAFFIC, ...TELEMETRY_TRAFFIC, ...PATCH_TRAFFIC].filter(
    (sidecar) => ALL || FEW.includes(sidecar.case),
  );
  for (const [number, sidecars] of Map.groupBy(table, (sidecar) => sidecar.case)) {
    const directory = caseDirectories(CORPUS).find((path) => basename(path).startsWith(`${number}-`)) ?? '';
    const proxies = new Set(sidecars.map(({ proxy }) => proxy));
    const name = `requests through ${[...proxies].join(', ')} of ${basename(directory)} go the way that the configuration says`;
    test(name, { timeout: 60_000 }, async () => {
      const corpusCase = readCase(directory);
      await using served = await ServedCase.start(corpusCase);
      for (const sidecar of sidecars) {
        const failures = await trafficFailures(sidecar, corpusCase, served, authority);
        assert.deepEqual(failures, [], `${sidecar.proxy}${sidecar.sds ? ' with SDS' : ''}`);
      }
    });
  }
}
