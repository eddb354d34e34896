/**
 * Behaviour over time against dist/istiod: `npm run scenarios -- DIR`. A line a scenario, what was skipped and why, the totals
 * last. SCENARIOS=01,16 takes scenarios that begin so. Exit 1: one failed.
 */
import { inParallel } from '../support/in-parallel.ts';
import { type CheckResult, runScenario, type ScenarioResult } from './run-scenario.ts';
import { type Scenario, scenariosUnder } from './scenario.ts';

/** Whether a scenario uses fixed ports, so that no other such one may run beside it. */
function usesPorts({ backends, nodes }: Scenario): boolean {
  return backends.length > 0 || Object.values(nodes).some(({ realEnvoy }) => realEnvoy);
}

async function main(directory: string): Promise<number> {
  const prefixes = process.env['SCENARIOS']?.split(',');
  const wanted = ({ id }: Scenario) => prefixes?.some((prefix) => id.startsWith(prefix)) ?? true;
  const scenarios = scenariosUnder(directory).filter(wanted);
  const results: ScenarioResult[] = [];
  const lanes = [scenarios.filter(usesPorts), scenarios.filter((scenario) => !usesPorts(scenario))];
  const run = async (lane: readonly Scenario[]) => {
    for await (const result of inParallel(lane, 1, runScenario)) {
      results.push(result);
      for (const line of lines(result)) console.log(line);
    }
  };
  await Promise.all(lanes.map(run));
  return totals(results);
}

function count(checks: readonly CheckResult[], outcome: CheckResult['outcome']): number {
  return checks.filter((check) => check.outcome === outcome).length;
}

function verdictOf({ checks }: ScenarioResult): 'passed' | 'failed' | 'skipped' {
  if (count(checks, 'failed') > 0) return 'failed';
  return count(checks, 'passed') > 0 ? 'passed' : 'skipped';
}

function lines(result: ScenarioResult): readonly string[] {
  const { scenario, checks } = result;
  const skipped = count(checks, 'skipped');
  const numbers = `${count(checks, 'passed')} of ${checks.length - skipped} checks${skipped > 0 ? `, ${skipped} skipped` : ''}`;
  const failed = checks.filter(({ outcome }) => outcome === 'failed');
  return [
    `${scenario.id} ${verdictOf(result)}: ${numbers}`,
    ...failed.map(({ check, reason }) => `    ${check.id} (${check.kind} at ${check.at}): ${reason.slice(0, 1_000)}`),
  ];
}

function totals(results: readonly ScenarioResult[]): number {
  const checks = results.flatMap((result) => result.checks.map((one) => ({ ...one, id: result.scenario.id })));
  const skipped = checks.filter(({ outcome }) => outcome === 'skipped');
  console.log(
    `\n${count(checks, 'passed')} checks passed, ${count(checks, 'failed')} failed, ${skipped.length} skipped because they need`,
  );
  for (const [reason, list] of [...Map.groupBy(skipped, (one) => one.reason)].sort(
    (a, b) => b[1].length - a[1].length,
  )) {
    const names = [...Map.groupBy(list, ({ id }) => id)].map(
      ([id, ones]) => `${id.slice(0, 2)} ${ones.map(({ check }) => check.id).join('')}`,
    );
    console.log(`    ${reason}: ${list.length} (${names.sort().join(', ')})`);
  }
  const verdicts = results.map(verdictOf);
  const [passed, failed, none] = (['passed', 'failed', 'skipped'] as const).map(
    (verdict) => verdicts.filter((one) => one === verdict).length,
  );
  if (none) console.log(`${none} scenarios have no check that can be judged`);
  console.log(`${passed} passed, ${failed} failed`);
  return failed ? 1 : 0;
}

const [directory = '../shared/scenarios'] = process.argv.slice(2);
process.exitCode = await main(directory);
