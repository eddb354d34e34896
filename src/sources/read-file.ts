import { closeSync, constants, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { systemReason } from './source.ts';

/**
 * The bytes of a regular file, at most one more than `limit`, so that a larger file shows as such.
 *
 * @returns undefined when there is no such file
 * @throws the system's error, when it can not be read
 */
export function fileContent(path: string, limit: number): Uint8Array | undefined {
  let descriptor: number;
  try {
    // A pipe in the place of a file must not block.
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) return undefined;
    return readAll(descriptor, Math.min(stats.size, limit) + 1);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * The text of a file, in UTF-8.
 *
 * @returns undefined when nothing is there
 * @throws Error with the reason in words, when it can not be read, is no regular file, or has more bytes than `limit`
 */
export function fileText(path: string, limit: number): string | undefined {
  const failed = (why: string, cause?: unknown) => new Error(`it can not be read: ${why}`, { cause });
  let content: Uint8Array | undefined;
  try {
    content = fileContent(path, limit);
  } catch (error) {
    throw failed(systemReason(error) ?? String(error), error);
  }
  const other = content === undefined ? statSync(path, { throwIfNoEntry: false }) : undefined;
  if (other !== undefined) {
    throw failed(`it is ${other.isDirectory() ? 'a directory' : 'no regular file'}: put a file in its place`);
  }
  if (content !== undefined && content.length > limit) throw new Error(`it is larger than ${limit} bytes`);
  return content && Buffer.from(content).toString('utf8');
}

function readAll(descriptor: number, size: number): Uint8Array {
  const buffer = Buffer.allocUnsafe(size);
  let length = 0;
  for (;;) {
    const read = readSync(descriptor, buffer, length, size - length, null);
    length += read;
    if (read === 0 || length === size) return buffer.subarray(0, length);
  }
}
