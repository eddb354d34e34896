import { EXIT } from './failure.ts';
import type { Logger } from './log.ts';

/** A fault that nothing caught leaves the process in a state that nobody knows: it ends, and whoever started it starts another. */
export function endWithFaults(log: Logger, program: string): void {
  // A log that nobody reads any more is no fault.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  process.once('uncaughtException', (error, origin) => {
    log.fatal({ err: error, origin }, `a fault of the program: ${program} ends`);
    process.exit(EXIT.software);
  });
}
