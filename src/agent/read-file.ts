import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** @param file relative to the working directory `root`, or absolute */
export function under(root: string, file: string): string {
  return file.startsWith('/') ? file : join(root, file);
}

/**
 * The text of a file; undefined when there is none.
 * @throws Error with a message for people when it can not be read
 */
export function textOf(root: string, file: string): string | undefined {
  try {
    return readFileSync(under(root, file), 'latin1');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new Error(`${file} can not be read: ${code === 'EACCES' ? 'permission denied' : message}`, { cause: error });
  }
}

/** Changes with the file; undefined when there is none. Links are followed, so that a swapped directory is a change. */
export function stampOf(root: string, file: string): string | undefined {
  try {
    const { ino, size, mtimeMs, ctimeMs } = statSync(under(root, file));
    return `${ino} ${size} ${mtimeMs} ${ctimeMs}`;
  } catch {
    return undefined;
  }
}
