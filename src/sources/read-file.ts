import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

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

function readAll(descriptor: number, size: number): Uint8Array {
  const buffer = Buffer.allocUnsafe(size);
  let length = 0;
  for (;;) {
    const read = readSync(descriptor, buffer, length, size - length, null);
    length += read;
    if (read === 0 || length === size) return buffer.subarray(0, length);
  }
}
