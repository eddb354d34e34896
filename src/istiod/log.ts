import { type Logger, pino } from 'pino';
import pretty from 'pino-pretty';
import type { Settings } from './settings.ts';

export type { Logger } from 'pino';

/** A log on standard error: JSON lines for machines, readable ones on a terminal unless the settings say otherwise. */
export function createLog({ level, format }: Settings['log'], stream: NodeJS.WriteStream = process.stderr): Logger {
  const options = { level, base: null, formatters: { level: (label: string) => ({ level: label }) } };
  const readable = format === 'pretty' || (format === undefined && stream.isTTY === true);
  if (!readable) return pino({ ...options, timestamp: pino.stdTimeFunctions.isoTime }, stream);
  return pino(
    { ...options, formatters: {} },
    pretty({ colorize: stream.isTTY === true, destination: stream, sync: true }),
  );
}
