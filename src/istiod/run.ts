import { formatDiagnostic } from '../base/diagnostic.ts';
import type { Environment } from './environment.ts';
import { logDiagnostic } from './events.ts';
import { EXIT, StartError } from './failure.ts';
import { startIstiod } from './istiod.ts';
import { createLog } from './log.ts';
import { readSettings } from './settings.ts';
import { serviceManager } from './systemd.ts';

/**
 * Runs the control plane in `root` until SIGTERM or SIGINT.
 * @returns the exit code
 * @throws StartError when it can not start
 */
export async function run(root: string, env: Environment): Promise<number> {
  const { settings, diagnostics } = readSettings(root);
  if (settings === undefined) throw new StartError(EXIT.config, diagnostics.map(formatDiagnostic).join('\n'));
  const log = createLog(settings.log);
  for (const finding of diagnostics) logDiagnostic(log, finding);
  // Waited for from here on: a first process of a container is not ended by a signal that it does not take.
  const ended = endingSignal();
  const istiod = await startIstiod({ root, settings, env, log });
  const manager = serviceManager(env);
  await manager.ready(`serves ${Object.values(istiod.listening).join(', ')}`);
  const signal = await ended;
  log.info({ signal }, 'istiod stops');
  await manager.stopping();
  await istiod.stop();
  return 0;
}

function endingSignal(): Promise<string> {
  return new Promise((resolve) => {
    process.once('SIGTERM', resolve);
    process.once('SIGINT', resolve);
  });
}
