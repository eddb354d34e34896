import { setTimeout as delay } from 'node:timers/promises';
import { Load } from '../support/http-client.ts';
import type { Verdict } from './checks/check-kind.ts';
import { loadVerdict } from './checks/envoys.ts';
import { KINDS, ONCE } from './checks/kinds.ts';
import { text, texts } from './fields.ts';
import { type Check, milliseconds, type Scenario, type Step } from './scenario.ts';
import { neededBefore } from './skips.ts';
import { World } from './world.ts';

export interface CheckResult {
  readonly check: Check;
  readonly outcome: 'passed' | 'failed' | 'skipped';
  /** Why it failed, or what it needs. */
  readonly reason: string;
}

export interface ScenarioResult {
  readonly scenario: Scenario;
  readonly checks: readonly CheckResult[];
}

/** Checks that are judged when all steps are over. */
const AT_THE_END: ReadonlySet<string> = new Set(['any', 'all-steps']);

/** Runs a scenario from its start through its steps, and judges each check at its time. */
export async function runScenario(scenario: Scenario): Promise<ScenarioResult> {
  const results: CheckResult[] = [];
  const judgeable = scenario.checks.filter((check) => {
    const needed = neededBefore(scenario, check);
    if (needed !== undefined) results.push({ check, outcome: 'skipped', reason: needed });
    return needed === undefined;
  });
  if (judgeable.length > 0) {
    try {
      results.push(...(await judged(scenario, judgeable)));
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      results.push(...judgeable.map((check) => ({ check, outcome: 'failed' as const, reason })));
    }
  }
  const place = (check: Check) => scenario.checks.indexOf(check);
  return { scenario, checks: results.sort((a, b) => place(a.check) - place(b.check)) };
}

async function judged(scenario: Scenario, checks: readonly Check[]): Promise<readonly CheckResult[]> {
  const results: CheckResult[] = [];
  const world = new World(scenario);
  try {
    const judgeNow = async (at: string) => {
      for (const check of checks)
        if (check.at === at && check.kind !== 'load') results.push(await judgedNow(check, world));
    };
    const judge = async (at: string) => {
      await judgeNow(at);
      await world.connections.open(checks, at);
      world.remember(at);
      await judgeLasting();
    };
    // What must be true at every moment is looked at after each step.
    const broken = new Map<Check, string>();
    const judgeLasting = async () => {
      for (const check of checks.filter(({ at }) => at === 'any')) {
        const verdict = await looked(check, world);
        if (verdict !== undefined && !broken.has(check)) broken.set(check, verdict);
      }
    };
    await world.prepare();
    await judgeNow('00');
    await world.start();
    await judge('start');
    world.countFromHere();
    for (const step of scenario.steps.filter(({ at }) => at !== '00')) {
      const loads = await performed(step, checks, world);
      await judge(step.at);
      results.push(...(await Promise.all(loads)));
    }
    for (const check of checks.filter(({ at }) => AT_THE_END.has(at))) {
      const reason = broken.get(check);
      results.push(reason === undefined ? await judgedNow(check, world) : { check, outcome: 'failed', reason });
    }
  } finally {
    await world.stop();
  }
  return results;
}

/** A step with the loads that run around it: each begins before the script and ends after it. */
async function performed(step: Step, checks: readonly Check[], world: World): Promise<readonly Promise<CheckResult>[]> {
  const loads = checks.filter(({ at, kind }) => at === step.at && kind === 'load');
  const running = loads.map((check) => {
    const { url, host, rps } = check;
    const options = { url: text(url), host: text(host), rps: Number(rps) };
    return { check, load: new Load(options) };
  });
  const [before = 0, after = 0] = [0, 1].map((edge) =>
    Math.max(0, ...loads.map((check) => Math.abs(milliseconds(texts(check['window'])[edge] ?? '0s')))),
  );
  if (running.length > 0) await delay(before);
  await world.step(step);
  return running.map(async ({ check, load }): Promise<CheckResult> => {
    await delay(after);
    return result(check, await loadVerdict(load, check));
  });
}

async function judgedNow(check: Check, world: World): Promise<CheckResult> {
  const { settle, within } = check;
  if (settle !== undefined) {
    const rest = world.stepEnded + milliseconds(settle) - performance.now();
    if (rest > 0) await delay(rest);
  }
  let verdict = await looked(check, world);
  if (within !== undefined && !ONCE.has(check.kind)) {
    const deadline = world.stepEnded + milliseconds(within);
    while (verdict !== undefined && performance.now() < deadline) {
      await delay(20);
      verdict = await looked(check, world);
    }
  }
  return result(check, verdict);
}

function result(check: Check, verdict: Verdict): CheckResult {
  return { check, outcome: verdict === undefined ? 'passed' : 'failed', reason: verdict ?? '' };
}

async function looked(check: Check, world: World): Promise<Verdict> {
  const look = KINDS[check.kind];
  if (look === undefined) return `the kind "${check.kind}" is not understood`;
  try {
    return await look(check, world);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
