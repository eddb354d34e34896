import { linkSync, rmSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { EXIT, StartError } from './failure.ts';
import { socketPath } from './socket-path.ts';

/** How long a process that holds a lock has to say its number. Milliseconds. */
const ANSWER_WITHIN = 1000;

/**
 * Holds a lock until it is released or this process ends, however it ends: a socket on which it listens. Node has no flock(2),
 * and a file with a process number says nothing where numbers are used again, as in containers.
 *
 * @param program as the refusal calls the process that holds it
 * @returns what releases it; nothing is held on a file system without sockets
 * @throws StartError when another process holds it
 */
export async function held(file: string, program: string): Promise<() => void> {
  const temporary = socketPath(`${file}.${process.pid}`);
  rmSync(temporary, { force: true });
  const server = await listening(temporary);
  if (server === undefined) return () => undefined;
  try {
    await moveTo(temporary, socketPath(file), program);
  } catch (error) {
    server.close();
    throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
  return () => {
    rmSync(file, { force: true });
    server.close();
  };
}

function listening(path: string): Promise<Server | undefined> {
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.end(String(process.pid));
  });
  server.unref();
  return new Promise((resolve) => {
    server.once('error', () => resolve(undefined));
    server.listen(path, () => resolve(server));
  });
}

/** Another name for the socket, which nobody has: unlike a rename, a link does not take it from another process. */
async function moveTo(temporary: string, file: string, program: string): Promise<void> {
  try {
    linkSync(temporary, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') return;
    const holder = await holderOf(file);
    if (holder !== undefined) {
      const message = `an ${program} runs in this directory already${holder && `, as process ${holder}`}: stop it, or start this one in another directory`;
      throw new StartError(EXIT.unavailable, message);
    }
    // Of a process that is gone.
    rmSync(file, { force: true });
    linkSync(temporary, file);
  }
}

/** The number of the process that listens, empty when it does not say; undefined when nobody listens. */
function holderOf(file: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect(file);
    let text = '';
    socket.setEncoding('utf8').setTimeout(ANSWER_WITHIN, () => socket.destroy());
    socket.on('data', (part: string) => {
      text += part;
    });
    socket.once('error', ({ code }: NodeJS.ErrnoException) =>
      resolve(code === 'ECONNREFUSED' || code === 'ENOENT' ? undefined : ''),
    );
    socket.once('close', () => resolve(text));
  });
}
