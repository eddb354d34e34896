import { type Logger, pino } from 'pino';
import pretty from 'pino-pretty';

export type { Logger } from 'pino';

/** What is logged, and how. */
export interface LogSettings {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  /** Undefined: as fits where it goes. */
  readonly format?: 'json' | 'pretty';
}

/** A log on standard error: JSON lines for machines, readable ones on a terminal unless the settings say otherwise. */
export function createLog({ level, format }: LogSettings, stream: NodeJS.WriteStream = process.stderr): Logger {
  const options = { level, base: null, formatters: { level: (label: string) => ({ level: label }) } };
  const readable = format === 'pretty' || (format === undefined && stream.isTTY === true);
  if (!readable) return pino({ ...options, timestamp: pino.stdTimeFunctions.isoTime }, stream);
  return pino(
    { ...options, formatters: {} },
    pretty({ colorize: stream.isTTY === true, destination: stream, sync: true }),
  );
}
