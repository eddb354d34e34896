import type { Diagnostic } from '../../src/base/diagnostic.ts';
import { IstiodProcess } from '../support/istiod-process.ts';
import { WorkDir } from '../support/work-dir.ts';
import { type Answers, answersFor } from './ask.ts';
import { isSidecar, readCase, rejectedDocuments } from './case-files.ts';
import { type Comparison, compared, disagreements } from './compare.ts';
import { refusalMistakes } from './refusals.ts';
import type { CaseResult } from './tally.ts';

/**
 * The variables under which the answers were taken. istiod's allocator of addresses, on by default, did not run: addresses stand
 * in the objects' status alone.
 */
function capturedWith(env: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const allocates = /^(0|f|false)$/i.test(env['PILOT_ENABLE_IP_AUTOALLOCATE'] ?? '');
  return allocates ? env : { ...env, PILOT_ENABLE_IP_AUTOALLOCATE: 'status' };
}

/**
 * Starts a control plane on a copy of a case's configuration, asks it as each proxy of the case, over both variants of the
 * protocol, and compares.
 */
export async function runCase(directory: string, comparison: Comparison): Promise<CaseResult> {
  const one = readCase(directory);
  const errors: string[] = [];
  const outcomes: CaseResult['outcomes'][] = [];
  const disagreed: string[] = [];
  const refusals: string[] = [];
  using dir = WorkDir.copyOf(directory, `case-${one.name}`);
  try {
    // As the answers were taken: by clients whose identity was not asked for.
    const settings = 'secretsOverPlaintext: true\n';
    await using istiod = await IstiodProcess.start({ root: dir.path, env: capturedWith(one.env), settings });
    refusals.push(...refusalMistakes(rejectedDocuments(one), await istiod.json<Diagnostic[]>('/debug/diagnosticsz')));
    for (const proxy of one.proxies) {
      const answers = async (variant: 'sotw' | 'delta'): Promise<Answers> => {
        try {
          return await answersFor(istiod.addresses.grpc, proxy, comparison.dataplane, variant);
        } catch (error) {
          errors.push(`${proxy.name} ${variant}: ${error instanceof Error ? error.message : String(error)}`);
          return new Map();
        }
      };
      const whole = await answers('sotw');
      outcomes.push(compared(one, proxy, whole, comparison));
      if (proxy.grpcListeners) continue;
      disagreed.push(...disagreements(whole, await answers('delta')).map((name) => `${proxy.name} ${name}`));
    }
  } catch (error) {
    errors.push(error instanceof Error ? error.message : String(error));
  }
  const asked = outcomes.flat();
  // What was never asked for was not answered.
  const unasked = one.proxies.filter(({ name }) => !asked.some(({ proxy }) => proxy === name));
  return {
    name: one.name,
    area: one.area,
    outcomes: [...asked, ...unasked.flatMap((proxy) => compared(one, proxy, new Map(), comparison))],
    sidecars: new Set(one.proxies.filter(isSidecar).map(({ name }) => name)),
    disagreements: disagreed,
    refusals,
    errors,
  };
}
