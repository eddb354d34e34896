import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { EXIT, StartError } from '../process/failure.ts';
import { socketPath } from '../process/socket-path.ts';
import { serverOptions } from '../xds/limits.ts';

export interface LocalSocket {
  close(): Promise<void>;
}

/** How long clients have to leave after they were told to. Milliseconds. */
const LEAVE_WITHIN = 1000;

/**
 * Serves gRPC on a Unix socket that the agent's user and group may use. What an agent that is gone left there is removed: the
 * working directory has one agent at a time.
 *
 * @throws StartError when it can not
 */
export async function listenLocally(path: string, register: (server: Server) => void): Promise<LocalSocket> {
  const server = new Server(serverOptions({ maxStreamsPerConnection: 1000 }));
  register(server);
  try {
    mkdirSync(dirname(path), { recursive: true });
    rmSync(path, { force: true });
    await new Promise<void>((resolve, reject) => {
      const done = (error: Error | null): void => (error === null ? resolve() : reject(error));
      server.bindAsync(`unix:${socketPath(path)}`, ServerCredentials.createInsecure(), done);
    });
    chmodSync(path, 0o660);
  } catch (error) {
    server.forceShutdown();
    throw new StartError(EXIT.unavailable, `the agent can not listen on ${path}: ${(error as Error).message}`, {
      cause: error,
    });
  }
  return {
    close: () =>
      new Promise((resolve) => {
        const timer = setTimeout(() => server.forceShutdown(), LEAVE_WITHIN);
        server.tryShutdown(() => {
          clearTimeout(timer);
          rmSync(path, { force: true });
          resolve();
        });
      }),
  };
}
