import { relative } from 'node:path';

/** The path of a socket, which may have 107 bytes, as it is shorter: from the working directory of the process, or whole. */
export function socketPath(path: string): string {
  const fromHere = relative('', path);
  return fromHere.length < path.length ? fromHere : path;
}
