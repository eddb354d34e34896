import { constants } from 'node:os';

type Signal = 'SIGTERM' | 'SIGINT' | 'SIGHUP';

/** The first of the signals that comes. The second ends the process at once, with the exit code of a process that it kills. */
export function endingSignal(signals: readonly Signal[]): Promise<Signal> {
  return new Promise((resolve) => {
    let isEnding = false;
    for (const signal of signals) {
      process.on(signal, () => {
        if (isEnding) process.exit(128 + constants.signals[signal]);
        isEnding = true;
        resolve(signal);
      });
    }
  });
}
