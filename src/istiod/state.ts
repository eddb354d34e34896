import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { held } from '../process/lock.ts';

/** What the server writes is below it, relative to the working directory. */
export const STATE_DIRECTORY = 'var/lib/istio';

/** The state of a control plane on disk, which one process at a time uses. */
export interface State {
  /** Why nothing can be written; undefined when it can. */
  readonly unwritable: string | undefined;
  /**
   * Says where the server listens, for those who start it with port 0.
   * @returns why it could not be written
   */
  writeListening(listening: Readonly<Record<string, string>>): string | undefined;
  /** Leaves the state to the next process. May be called while the process ends, and again. */
  release(): void;
}

/**
 * Takes the state directory into use. Where nothing can be written, as with a read-only root, the server does without.
 *
 * @throws StartError when another process uses it
 */
export async function openState(root: string): Promise<State> {
  const directory = join(root, STATE_DIRECTORY, 'run');
  const listenFile = join(directory, 'listen.json');
  const temporary = `${listenFile}.${process.pid}`;
  const write = (text: string): void => writeFileSync(temporary, text, { mode: 0o600 });
  try {
    // Others may have their own folders in it: an agent's, of another user.
    mkdirSync(join(root, STATE_DIRECTORY), { recursive: true });
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    write('');
    rmSync(temporary);
  } catch (error) {
    return { unwritable: reason(error), writeListening: () => undefined, release: () => undefined };
  }
  const unlock = await held(join(directory, 'lock'), 'istiod');
  // Of a process that was killed.
  rmSync(listenFile, { force: true });
  return {
    unwritable: undefined,
    writeListening(listening) {
      try {
        write(`${JSON.stringify(listening)}\n`);
        renameSync(temporary, listenFile);
        return undefined;
      } catch (error) {
        return reason(error);
      }
    },
    release() {
      rmSync(listenFile, { force: true });
      unlock();
    },
  };
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'a file stands where a directory should be',
  EEXIST: 'a file stands where a directory should be',
};

function reason(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  return REASONS[code] ?? message;
}
