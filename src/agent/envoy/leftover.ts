import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** How long it has to end. Milliseconds. */
const END_WITHIN = 5000;
const EVERY = 20;

/** Remembers which process the Envoy is, for an agent after one that was killed. */
export function rememberEnvoy(file: string, pid: number | undefined): void {
  try {
    if (pid === undefined) rmSync(file, { force: true });
    else {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, `${pid}\n`, { mode: 0o600 });
    }
  } catch {
    // Only the next agent would miss it, and its Envoy says that its addresses are taken.
  }
}

/**
 * Ends an Envoy that an agent has left which was killed: it holds the addresses.
 *
 * @param config the argument by which its process is known
 * @returns the number of the process, if there was one
 */
export async function endLeftover(file: string, config: string): Promise<number | undefined> {
  const pid = remembered(file);
  if (pid === undefined || !isEnvoy(pid, config)) return undefined;
  if (!told(pid, 'SIGTERM')) return undefined;
  const deadline = performance.now() + END_WITHIN;
  while (isEnvoy(pid, config)) {
    if (performance.now() > deadline) told(pid, 'SIGKILL');
    await new Promise((resolve) => setTimeout(resolve, EVERY));
  }
  return pid;
}

/** It may be gone already, or of another user. */
function told(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

function remembered(file: string): number | undefined {
  try {
    const pid = Number(readFileSync(file, 'utf8'));
    return Number.isInteger(pid) && pid > 1 ? pid : undefined;
  } catch {
    return undefined;
  }
}

/** Numbers of processes are used again. */
function isEnvoy(pid: number, config: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(config);
  } catch {
    return false;
  }
}
