import type { ParsedFile } from '../config/parsed.ts';
import type { ConfigSink } from '../config/sink.ts';
import type { Clock } from '../xds/limits.ts';

/** One whole file; undefined when it is gone. */
export interface FileState {
  readonly file: string;
  readonly parsed: ParsedFile | undefined;
}

export interface Patience {
  readonly clock: Clock;
  /**
   * How long changes wait for others that make them whole, in milliseconds since the first of them; 0: they are whole.
   * @param before what was handed on of each file last
   */
  readonly wait: (changes: readonly FileState[], before: ReadonlyMap<string, ParsedFile>) => number;
  /** What changes need from elsewhere: they wait until it is there, for {@link ELSEWHERE_MS} at most; undefined: nothing. */
  readonly ask: (changes: readonly FileState[]) => Promise<void> | undefined;
}

/** Others wait no longer for a server that is not there. Milliseconds. */
const ELSEWHERE_MS = 1000;

/**
 * A sink before another one, for people who save a route in one file and the subset that it needs in the next: changes that are
 * not whole wait a little for the rest, and are taken together with it. All others are handed on at once.
 */
export function patientSink(sink: ConfigSink, { clock, wait, ask }: Patience): ConfigSink {
  const before = new Map<string, ParsedFile>();
  let held: FileState[] = [];
  let since = 0;
  let cancel: (() => void) | undefined;
  let gathered: FileState[] | undefined;

  const handOn = (): void => {
    cancel?.();
    cancel = undefined;
    const changes = held;
    held = [];
    sink.batch(() => {
      for (const { file, parsed } of changes) {
        sink.apply(file, parsed);
        if (parsed === undefined) before.delete(file);
        else before.set(file, parsed);
      }
    });
  };
  const check = (): void => {
    if (held.length === 0) return;
    const changes = held;
    const asked = ask(changes);
    const left = Math.max(wait(changes, before), asked === undefined ? 0 : ELSEWHERE_MS) - (clock.now() - since);
    cancel?.();
    if (left > 0) cancel = clock.after(left, handOn);
    else handOn();
    // The array of those that are held is another one when they were handed on.
    void asked?.then(() => held === changes && check());
  };
  const take = (changes: readonly FileState[]): void => {
    if (held.length === 0) since = clock.now();
    held.push(...changes);
    check();
  };
  return {
    get rootNamespace() {
      return sink.rootNamespace;
    },
    replace(files) {
      cancel?.();
      cancel = undefined;
      held = [];
      before.clear();
      for (const parsed of files) before.set(parsed.file, parsed);
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
