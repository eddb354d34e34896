import { existsSync, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { EXIT, StartError } from '../process/failure.ts';

/** Parts of a root by which it may be named. */
export type RootPart = 'etc' | 'etc/istio' | 'etc/istio/conf';

/**
 * The root that a directory is a part of: meant is what is served.
 *
 * @param parts those that stand for their root
 * @returns from the working directory; undefined when the directory is no such part
 */
export function rootAround(directory: string, parts: readonly RootPart[]): string | undefined {
  const whole = resolve(directory);
  const part = parts.find((one) => whole.endsWith(`/${one}`));
  if (part === undefined) return undefined;
  const around = whole.slice(0, -part.length - 1) || '/';
  return existsSync(join(around, 'etc/istio')) ? relative('', around) || '.' : undefined;
}

/** @throws StartError when no directory is there */
export function assertDirectory(directory: string): void {
  const stats = statSync(directory, { throwIfNoEntry: false });
  if (stats?.isDirectory() === true) return;
  const advice = stats === undefined ? '' : ': it is a file, and directories are read whole';
  throw new StartError(EXIT.noInput, `there is no directory "${directory}"${advice}`);
}
