import { deepEqual } from '../base/equal.ts';
import type { Logger } from '../process/log.ts';
import { logDiagnostic } from './events.ts';
import { OPTIONS_FILE, readSettings, type Settings } from './settings.ts';

/**
 * Reads the options again: the log's level is taken at once, and for the others a line says that they need a restart.
 *
 * @param started the settings that the process runs with
 */
export function reloadOptions(root: string, started: Settings, log: Logger): void {
  const { settings, diagnostics } = readSettings(root);
  for (const finding of diagnostics) logDiagnostic(log, finding);
  if (settings === undefined) {
    log.error(`${OPTIONS_FILE} can not be taken; the options from before stay`);
    return;
  }
  const others = changedOptions(started, settings);
  if (others.length > 0) log.warn(`${others.join(', ')} of ${OPTIONS_FILE}: restart istiod for the change`);
  if (settings.log.level === log.level) return;
  log.level = settings.log.level;
  log.info(`the log's level is ${settings.log.level} from now on`);
}

/** Names of options that differ, but for the log's level. */
function changedOptions(before: Settings, now: Settings): readonly string[] {
  const listen = (Object.keys(now.listen) as (keyof Settings['listen'])[])
    .filter((option) => now.listen[option] !== before.listen[option])
    .map((option) => `listen.${option}`);
  const { listen: _a, listenPlaces: _b, settleMs, log, ...others } = now;
  const names = (Object.keys(others) as (keyof typeof others)[]).filter((name) => !deepEqual(now[name], before[name]));
  return [
    ...listen,
    ...names,
    ...(settleMs === before.settleMs ? [] : ['settle']),
    ...(log.format === before.log.format ? [] : ['log.format']),
  ];
}
