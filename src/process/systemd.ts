import { execFile } from 'node:child_process';
import { writeSync } from 'node:fs';
import type { Environment } from './environment.ts';

/** What systemd is told of this process; nothing happens where no systemd waits for it. */
export interface ServiceManager {
  /** `READY=1` with a line for `systemctl status`; from then on the watchdog is fed from the event loop. */
  ready(status: string): Promise<void>;
  /** `STOPPING=1`: the end is wanted, and may take a moment. */
  stopping(): Promise<void>;
}

/**
 * Speaks sd_notify(3). Node has no datagram sockets of the Unix domain. A descriptor that `NOTIFY_FD` names, inherited from the
 * unit's helper, is written to: 2 µs. Else systemd's own tool is started: 2 ms of the event loop in a small process, and 15 ms
 * or more in one of a gigabyte, whose memory map has to be copied; its unit needs `NotifyAccess=all`.
 *
 * @param env `NOTIFY_SOCKET`, `NOTIFY_FD`, `WATCHDOG_USEC` and `WATCHDOG_PID`
 */
export function serviceManager(env: Environment, pid: number = process.pid): ServiceManager {
  const tell = channel(env, pid);
  if (tell === undefined) return { ready: () => Promise.resolve(), stopping: () => Promise.resolve() };
  const watchdogMs = watchdogPeriodMs(env, pid);
  return {
    async ready(status) {
      await tell(`READY=1\nSTATUS=${status}`);
      if (watchdogMs !== undefined) setInterval(() => void tell('WATCHDOG=1'), watchdogMs / 2).unref();
    },
    stopping: () => tell('STOPPING=1'),
  };
}

/** Sends assignments, one a line. Never rejects: when systemd can not be told, it acts as it does on silence. */
function channel(env: Environment, pid: number): ((message: string) => Promise<void>) | undefined {
  if (!env['NOTIFY_SOCKET']) return undefined;
  const descriptor = Number(env['NOTIFY_FD'] || Number.NaN);
  if (Number.isInteger(descriptor)) return (message) => written(descriptor, message);
  return (message) =>
    new Promise((resolve) => {
      execFile('systemd-notify', [`--pid=${pid}`, ...message.split('\n')], () => resolve());
    });
}

function written(descriptor: number, message: string): Promise<void> {
  try {
    writeSync(descriptor, message);
  } catch {
    // What systemd does on silence is right: it waits, and then restarts.
  }
  return Promise.resolve();
}

/** How long systemd waits for a sign of life; undefined when it does not watch this process. */
function watchdogPeriodMs(env: Environment, pid: number): number | undefined {
  const micros = Number(env['WATCHDOG_USEC'] || Number.NaN);
  const isOurs = !env['WATCHDOG_PID'] || Number(env['WATCHDOG_PID']) === pid;
  return isOurs && micros > 0 ? micros / 1000 : undefined;
}
