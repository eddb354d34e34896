import { chmodSync, lstatSync, mkdirSync, rmSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { connect, createServer as createSocketServer } from 'node:net';
import { dirname, join } from 'node:path';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { type Address, formatAddress, parseAddress } from '../base/host-port.ts';
import { serverOptions } from '../xds/limits.ts';
import { cannotListen, type Target } from './listen-failure.ts';

export interface Bound {
  /** `host:port` or the socket's path. */
  readonly address: string;
  close(): Promise<void>;
}

type Register = (server: Server) => void;

/** How long clients have to leave after they were told to. Milliseconds. */
const LEAVE_WITHIN = 1000;

function addressOf(target: Target): Address {
  const address = parseAddress(target.text);
  if (address === undefined) throw cannotListen(target, new Error('it is no address'));
  return address;
}

/**
 * Whether an address can be taken. gRPC binds with SO_REUSEPORT, so that a second server would take half of the connections and
 * nobody would be told.
 * @throws StartError when it can not
 */
export async function assertFree(target: Target): Promise<void> {
  const { host, port } = addressOf(target);
  const probe = createSocketServer();
  await new Promise<void>((resolve, reject) => {
    probe.once('error', (error) => reject(cannotListen(target, error)));
    probe.listen({ port, host, exclusive: true }, () => probe.close(() => resolve()));
  });
}

/** Serves gRPC on `host:port`, which must be free. */
export async function listenGrpc(target: Target, credentials: ServerCredentials, register: Register): Promise<Bound> {
  const address = addressOf(target);
  const { port, close } = await bind(formatAddress(address), credentials, register, target);
  return { address: formatAddress({ ...address, port }), close };
}

/**
 * The file of a Unix socket that can be taken. One that a process left which is gone is removed.
 * @throws StartError when it can not be taken
 */
export async function freeSocket(root: string, target: Target): Promise<string> {
  const file = target.text.startsWith('/') ? target.text : join(root, target.text);
  try {
    if (Buffer.byteLength(file) > 107) throw Object.assign(new Error(), { code: 'ENAMETOOLONG' });
    mkdirSync(dirname(file), { recursive: true });
    const there = lstatSync(file, { throwIfNoEntry: false });
    if (there !== undefined) {
      if (!there.isSocket()) throw Object.assign(new Error(), { code: 'ENOTSOCK' });
      if (await answers(file)) throw Object.assign(new Error(), { code: 'EADDRINUSE' });
      rmSync(file);
    }
  } catch (error) {
    throw cannotListen(target, error);
  }
  return file;
}

/** Serves gRPC on a Unix socket that the group may use. */
export async function listenGrpcUnix(root: string, target: Target, register: Register): Promise<Bound> {
  const file = await freeSocket(root, target);
  const { close } = await bind(`unix:${file}`, ServerCredentials.createInsecure(), register, target);
  chmodSync(file, 0o660);
  return { address: file, close };
}

function answers(file: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(file);
    socket.once('connect', () => resolve(socket.destroy() !== undefined));
    socket.once('error', () => resolve(false));
  });
}

async function bind(
  target: string,
  credentials: ServerCredentials,
  register: Register,
  origin: Target,
): Promise<{ readonly port: number; close(): Promise<void> }> {
  const server = new Server(serverOptions());
  register(server);
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync(target, credentials, (error, bound) =>
      error === null ? resolve(bound) : reject(cannotListen(origin, withCode(error))),
    );
  });
  return {
    port,
    close: () =>
      new Promise((resolve) => {
        server.tryShutdown(() => resolve());
        setTimeout(() => server.forceShutdown(), LEAVE_WITHIN).unref();
      }),
  };
}

/** grpc-js says the system's code in its message only. */
function withCode(error: Error): Error {
  const code = /\b(EADDRINUSE|EADDRNOTAVAIL|EACCES|EPERM|ENOTFOUND)\b/.exec(error.message)?.[1];
  return code === undefined ? error : Object.assign(new Error(error.message, { cause: error }), { code });
}

/** What one client may use up: a connection more is closed at once, a request that takes longer to come ends. */
const HTTP_LIMITS = { connections: 256, headerBytes: 16_384, requestMs: 10_000, checkMs: 5_000 };

/** Serves HTTP on `host:port`. */
export async function listenHttp(target: Target, handler: RequestListener): Promise<Bound> {
  const address = addressOf(target);
  const { connections, headerBytes, requestMs, checkMs } = HTTP_LIMITS;
  const options = { maxHeaderSize: headerBytes, requestTimeout: requestMs, headersTimeout: requestMs };
  const server = createServer({ ...options, connectionsCheckingInterval: checkMs }, handler);
  server.maxConnections = connections;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(cannotListen(target, error)));
    server.listen(address.port, address.host, resolve);
  });
  const bound = server.address();
  const port = typeof bound === 'object' && bound !== null ? bound.port : address.port;
  return {
    address: formatAddress({ ...address, port }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
