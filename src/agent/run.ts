import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Environment } from '../process/environment.ts';
import { EXIT, StartError } from '../process/failure.ts';
import { endWithFaults } from '../process/faults.ts';
import { held } from '../process/lock.ts';
import { createLog, type Logger } from '../process/log.ts';
import { endingSignal } from '../process/signals.ts';
import { serviceManager } from '../process/systemd.ts';
import { AGENT_STATE, startAgent } from './agent.ts';
import { thisMachine } from './identity.ts';
import { readAgentSettings } from './settings.ts';

/** What the agent wants of a control plane of its own. */
export interface ControlPlaneOrder {
  readonly root: string;
  readonly env: Environment;
  /** Path of the socket that it serves. */
  readonly socket: string;
  readonly log: Logger;
}

export interface ControlPlane {
  stop(): Promise<void>;
}

/**
 * Runs the agent of the working directory `root` until SIGTERM or SIGINT; another of them ends the process at once.
 *
 * @param ownControlPlane starts a control plane in this process, for a machine that has configuration and no istiod
 * @returns the exit code
 * @throws StartError when it can not start
 */
export async function run(
  root: string,
  env: Environment,
  ownControlPlane: (order: ControlPlaneOrder) => Promise<ControlPlane>,
): Promise<number> {
  const { settings, errors, warnings } = readAgentSettings(root, env);
  if (settings === undefined) throw new StartError(EXIT.config, errors.join('\n'));
  const log = createLog(settings.log);
  endWithFaults(log, 'istio-agent');
  for (const warning of warnings) log.warn(warning);
  const asked = Promise.withResolvers<string>();
  const ended = Promise.race([endingSignal(['SIGTERM', 'SIGINT', 'SIGHUP']), asked.promise]);
  const runDirectory = join(root, AGENT_STATE, 'run');
  const release = await lock(runDirectory, log);
  let own: ControlPlane | undefined;
  try {
    if (settings.controlPlane.standalone !== undefined) {
      log.info(
        'there is no address of an istiod, but configSources in mesh.yaml: the agent is the control plane itself',
      );
      own = await ownControlPlane({ root, env, socket: settings.controlPlane.standalone, log });
    }
    const agent = await startAgent({
      root,
      settings,
      machine: thisMachine(),
      quit: () => asked.resolve('quitquitquit'),
      log,
    });
    await Promise.race([agent.ready, agent.failed, ended]);
    writeListening(runDirectory, agent.listening, log);
    log.info(agent.listening, 'istio-agent serves');
    const manager = serviceManager(env);
    await manager.ready(`serves ${Object.values(agent.listening).join(', ')}`);
    const signal = await Promise.race([ended, agent.failed]);
    log.info({ signal }, 'istio-agent stops');
    await manager.stopping();
    await agent.stop();
    log.info('istio-agent has stopped');
    return 0;
  } finally {
    await own?.stop();
    rmSync(join(runDirectory, LISTENING), { force: true });
    release();
  }
}

const LISTENING = 'listen.json';

/** @throws StartError when another agent runs in the directory */
async function lock(directory: string, log: Logger): Promise<() => void> {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  } catch (error) {
    log.warn(`nothing is kept for a restart: ${(error as Error).message}`);
    return () => undefined;
  }
  const release = await held(join(directory, 'lock'), 'istio-agent');
  // Of a process that was killed.
  rmSync(join(directory, LISTENING), { force: true });
  return release;
}

/** Where it listens, for those who start it with port 0. */
function writeListening(directory: string, listening: Readonly<Record<string, string>>, log: Logger): void {
  try {
    writeFileSync(join(directory, `${LISTENING}.new`), `${JSON.stringify(listening)}\n`, { mode: 0o644 });
    renameSync(join(directory, `${LISTENING}.new`), join(directory, LISTENING));
  } catch (error) {
    log.warn(`${join(directory, LISTENING)} can not be written: ${(error as Error).message}`);
  }
}
