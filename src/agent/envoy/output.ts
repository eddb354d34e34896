import { execFileSync } from 'node:child_process';
import { closeSync, fstatSync, mkdirSync, openSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { dirname } from 'node:path';

/** Where an Envoy writes what it is told to log on its standard output. */
export interface Output {
  /** A descriptor for a child process. */
  readonly descriptor: number | 'inherit';
  close(): void;
}

/**
 * The agent's own standard output, where a program can open it again as /dev/stdout, as Envoy does for access logs. A socket can
 * not be opened, and that is what a service manager gives: there a named pipe stands between.
 *
 * @param pipe path of the named pipe
 */
export function envoyOutput(pipe: string): Output {
  const inherited: Output = { descriptor: 'inherit', close: () => undefined };
  try {
    if (!fstatSync(1).isSocket()) return inherited;
    mkdirSync(dirname(pipe), { recursive: true });
    rmSync(pipe, { force: true });
    execFileSync('mkfifo', ['-m', '600', pipe]);
  } catch {
    return inherited;
  }
  // Open for both, so that neither end waits for the other.
  const descriptor = openSync(pipe, 'r+');
  const reader = new Socket({ fd: openSync(pipe, 'r+'), readable: true, writable: false });
  reader.unref();
  reader.on('error', () => undefined);
  reader.pipe(process.stdout, { end: false });
  return {
    descriptor,
    close: () => {
      reader.destroy();
      closeSync(descriptor);
      rmSync(pipe, { force: true });
    },
  };
}
