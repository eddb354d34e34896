import type { ParsedFile } from '../config/parsed.ts';
import type { ConfigSink } from '../config/sink.ts';
import type { Clock } from '../xds/limits.ts';

/** One whole file; undefined when it is gone. */
export interface FileState {
  readonly file: string;
  readonly parsed: ParsedFile | undefined;
}

export interface Patience {
  /** How long changes wait for those that make them whole, in milliseconds. */
  readonly limit: number;
  readonly clock: Clock;
  /** Whether changes name something that is not there, though it may be about to come. */
  readonly isIncomplete: (changes: readonly FileState[]) => boolean;
}

/**
 * A sink before another one, for people who save a route in one file and the subset that it needs in the next: changes that are
 * not whole wait a little for the rest, and are taken together with it. All others are handed on at once.
 */
export function patientSink(sink: ConfigSink, { limit, clock, isIncomplete }: Patience): ConfigSink {
  let held: FileState[] = [];
  let cancel: (() => void) | undefined;
  let gathered: FileState[] | undefined;

  const handOn = (): void => {
    cancel?.();
    cancel = undefined;
    const changes = held;
    held = [];
    sink.batch(() => {
      for (const { file, parsed } of changes) sink.apply(file, parsed);
    });
  };
  const take = (changes: readonly FileState[]): void => {
    held.push(...changes);
    if (held.length === 0) return;
    if (isIncomplete(held)) cancel ??= clock.after(limit, handOn);
    else handOn();
  };
  return {
    get rootNamespace() {
      return sink.rootNamespace;
    },
    replace(files) {
      cancel?.();
      cancel = undefined;
      held = [];
      sink.replace(files);
    },
    apply(file, parsed) {
      if (gathered === undefined) take([{ file, parsed }]);
      else gathered.push({ file, parsed });
    },
    batch(change) {
      if (gathered !== undefined) {
        change();
        return;
      }
      gathered = [];
      try {
        change();
      } finally {
        const changes = gathered;
        gathered = undefined;
        take(changes);
      }
    },
  };
}
