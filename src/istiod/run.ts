import { formatDiagnostic } from '../base/diagnostic.ts';
import type { Environment } from '../process/environment.ts';
import { EXIT, StartError } from '../process/failure.ts';
import { endWithFaults } from '../process/faults.ts';
import { createLog } from '../process/log.ts';
import { endingSignal } from '../process/signals.ts';
import { serviceManager } from '../process/systemd.ts';
import { logDiagnostic } from './events.ts';
import { startIstiod } from './istiod.ts';
import { reloadOptions } from './reload.ts';
import { readSettings } from './settings.ts';

/**
 * Runs the control plane in `root` until SIGTERM or SIGINT; another of them ends the process at once. SIGHUP reads the options
 * again, or ends it when it runs on a terminal, which is gone then.
 *
 * @returns the exit code
 * @throws StartError when it can not start
 */
export async function run(root: string, env: Environment): Promise<number> {
  const { settings, diagnostics } = readSettings(root);
  if (settings === undefined) throw new StartError(EXIT.config, diagnostics.map(formatDiagnostic).join('\n'));
  const log = createLog(settings.log);
  endWithFaults(log, 'istiod');
  for (const finding of diagnostics) logDiagnostic(log, finding);
  // Waited for from here on: a first process of a container is not ended by a signal that it does not take.
  const isOnTerminal = process.stderr.isTTY === true;
  const ended = endingSignal(isOnTerminal ? ['SIGTERM', 'SIGINT', 'SIGHUP'] : ['SIGTERM', 'SIGINT']);
  if (!isOnTerminal) process.on('SIGHUP', () => reloadOptions(root, settings, log));

  const started = await Promise.race([startIstiod({ root, settings, env, log }), ended]);
  if (typeof started === 'string') {
    log.info({ signal: started }, 'istiod stops while it starts');
    return 0;
  }
  const manager = serviceManager(env);
  await manager.ready(`serves ${Object.values(started.listening).join(', ')}`);
  const signal = await ended;
  log.info({ signal }, 'istiod stops');
  await manager.stopping();
  await started.stop();
  log.info('istiod has stopped');
  return 0;
}
