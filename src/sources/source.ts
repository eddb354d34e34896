import type { ConfigSink } from '../config/sink.ts';

/** Whether a source that may go away is there. */
export type SourceState = 'connected' | 'disconnected';

/** Something that configuration is read from. */
export interface Source {
  /** As it stands in findings and in `Config.source`: `file:etc/istio/conf`. */
  readonly name: string;
  /**
   * Begins to read, and goes on until `signal` is aborted.
   *
   * @returns resolved when the first whole state is in the sink
   * @throws when the source can not be read at all, with a message for its user
   */
  start(sink: ConfigSink, signal: AbortSignal): Promise<void>;
  /** Of a source that may go away. */
  state?(): SourceState;
}

/** What a source says of itself; pino's logger is one. */
export interface SourceLog {
  info(message: string): void;
  warn(message: string): void;
}

/** The operating system's reason in words for people; undefined when `error` is not of the system. */
export function systemReason(error: unknown): string | undefined {
  const { code } = error as NodeJS.ErrnoException;
  if (typeof code !== 'string') return undefined;
  return REASONS[code] ?? code;
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied: let the user that this process runs as read it',
  EPERM: 'permission denied: let the user that this process runs as read it',
  ELOOP: 'symbolic links lead in a circle: make them end at a file',
  ENOTDIR: 'it is no directory: put a directory in its place',
  EISDIR: 'it is a directory: put a file in its place',
  EIO: 'the disk fails to read it',
  EMFILE: 'too many open files: raise the limit of this process',
  ENFILE: 'too many open files on this machine',
};
