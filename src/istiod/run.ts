import { execFile } from 'node:child_process';
import { formatDiagnostic } from '../base/diagnostic.ts';
import type { Environment } from './environment.ts';
import { logDiagnostic } from './events.ts';
import { EXIT, StartError } from './failure.ts';
import { startIstiod } from './istiod.ts';
import { createLog } from './log.ts';
import { readSettings } from './settings.ts';

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
  const istiod = await startIstiod({ root, settings, env, log });
  await notifyReady(env);
  const signal = await new Promise<string>((resolve) => {
    process.once('SIGTERM', resolve);
    process.once('SIGINT', resolve);
  });
  log.info({ signal }, 'istiod stops');
  await istiod.stop();
  return 0;
}

/** Tells systemd, where it started us. Node has no datagram sockets of the Unix domain, so systemd's own tool does it. */
async function notifyReady(env: Environment): Promise<void> {
  if (!env['NOTIFY_SOCKET']) return;
  await new Promise<void>((resolve) => {
    execFile('systemd-notify', ['--ready', `--pid=${process.pid}`], () => resolve());
  });
}
