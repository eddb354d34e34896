import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { before, suite, test } from 'node:test';
import { inParallel } from '../support/in-parallel.ts';
import { readAllowed } from './allowed.ts';
import { caseDirectories } from './case-files.ts';
import { belowFloor, readFloor } from './floor.ts';
import { runCase } from './run-case.ts';
import { type CaseResult, tallyByArea } from './tally.ts';

const CORPUS = '../shared/conformance/public';
const HERE = import.meta.dirname;

suite("real istiod's answers", { skip: existsSync(CORPUS) ? false : `there is no ${CORPUS}` }, () => {
  const results: CaseResult[] = [];
  before(async () => {
    const comparison = { dataplane: 'istio', allowed: readAllowed(join(HERE, 'differences.yaml')) } as const;
    const answers = inParallel(caseDirectories(CORPUS), 2, (directory) => runCase(directory, comparison));
    for await (const result of answers) results.push(result);
  });

  test('every proxy is answered', () => {
    assert.deepEqual(
      results.flatMap(({ name, errors }) => errors.map((error) => `${name}: ${error}`)),
      [],
    );
  });

  test('as many distinct resources are right in each area as were before', () => {
    const disagreements = results.flatMap((result) => result.disagreements).length;
    assert.deepEqual(belowFloor(readFloor(join(HERE, 'floor.yaml')), tallyByArea(results), disagreements), []);
  });
});
