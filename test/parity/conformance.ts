/**
 * Compares what dist/istiod answers with real istiod's answers: `npm run conformance -- DIR`. A line a case, the totals last.
 * VERBOSE=1 prints each difference; DATAPLANE=envoy asks as upstream Envoys with SDS; CASES=001,04 takes cases that begin so.
 * Exit 1: a minimum of test/parity/floor.yaml does not hold.
 */
import { basename, join } from 'node:path';
import { inParallel } from '../support/in-parallel.ts';
import { readAllowed } from './allowed.ts';
import { caseDirectories } from './case-files.ts';
import { belowFloor, readFloor } from './floor.ts';
import { caseLines, table } from './report.ts';
import { runCase } from './run-case.ts';
import { type CaseResult, isWhole, tally, tallyByArea } from './tally.ts';

const HERE = import.meta.dirname;

async function main(directory: string): Promise<number> {
  const verbose = process.env['VERBOSE'] === '1';
  const dataplane = process.env['DATAPLANE'] === 'envoy' ? 'envoy' : 'istio';
  const allowed = readAllowed(join(HERE, 'differences.yaml'));
  const prefixes = process.env['CASES']?.split(',');
  const wanted = (path: string) => prefixes?.some((prefix) => basename(path).startsWith(prefix)) ?? true;
  const results: CaseResult[] = [];
  const comparison = { dataplane, allowed } as const;
  for await (const result of inParallel(caseDirectories(directory).filter(wanted), 2, (path) =>
    runCase(path, comparison),
  )) {
    results.push(result);
    for (const line of caseLines(result, verbose)) console.log(line);
  }
  const areas = tallyByArea(results);
  console.log('\nDistinct resources and whole cases\n');
  for (const line of table([...areas, tally('total', results)])) console.log(line);
  const outcomes = results.flatMap((result) => result.outcomes);
  const count = (verdict: string) => outcomes.filter((outcome) => outcome.verdict === verdict).length;
  const disagreements = results.flatMap((result) => result.disagreements).length;
  const refusals = results.flatMap((result) => result.refusals).length;
  console.log(
    `\n${count('equal')} equal, ${count('different')} different, ${count('missing')} missing, ${count('extra')} not expected; ` +
      `${count('allowed')} allowed by ${allowed.length} lines of differences.yaml`,
  );
  console.log(
    `${disagreements} resources in which incremental answers differ, ${refusals} mistakes about refused documents`,
  );
  const below = dataplane === 'istio' ? belowFloor(readFloor(join(HERE, 'floor.yaml')), areas, disagreements) : [];
  for (const line of below) console.log(`below the floor: ${line}`);
  console.log(`${results.filter(isWhole).length} of ${results.length} cases are whole`);
  return below.length > 0 ? 1 : 0;
}

const [directory = '../shared/conformance/public'] = process.argv.slice(2);
process.exitCode = await main(directory);
