import { chmodSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { createServer, type Server as HttpServer, type RequestListener } from 'node:http';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { serverOptions } from '../xds/limits.ts';
import { EXIT, StartError } from './failure.ts';
import { type ListenAddresses, OPTIONS_FILE, parseAddress } from './settings.ts';

export interface Bound {
  /** `host:port` or the socket's path. */
  readonly address: string;
  close(): Promise<void>;
}

function cannotListen(option: keyof ListenAddresses, address: string, error: Error): StartError {
  const { code = '' } = error as NodeJS.ErrnoException;
  const text = `${code} ${error.message}`;
  const why = /EADDRINUSE|in use/.test(text)
    ? 'the address is in use by another process'
    : /EACCES|EPERM/.test(text)
      ? 'this user may not bind to it'
      : error.message;
  const message = `cannot listen on ${address}: ${why}; write another address as listen.${option} in ${OPTIONS_FILE} ("" switches it off, port 0 picks a free one)`;
  return new StartError(EXIT.unavailable, message, { cause: error });
}

/** Serves gRPC on `host:port`. */
export async function listenGrpc(
  option: 'grpc' | 'grpcTls',
  address: string,
  credentials: ServerCredentials,
  register: (server: Server) => void,
): Promise<Bound> {
  const parsed = parseAddress(address);
  if (parsed === undefined) throw new StartError(EXIT.config, `listen.${option}: "${address}" is no address`);
  const host = parsed.host.includes(':') ? `[${parsed.host}]` : parsed.host;
  if (parsed.port !== 0) await assertFree(option, parsed.host, parsed.port);
  const port = await bind(`${host}:${parsed.port}`, credentials, register, (error) =>
    cannotListen(option, address, error),
  );
  return { address: `${host}:${port.port}`, close: port.close };
}

/** grpc-js binds with SO_REUSEPORT, so that a second istiod would take half of the connections and nobody would be told. */
async function assertFree(option: 'grpc' | 'grpcTls', host: string, port: number): Promise<void> {
  const probe = createServer();
  await new Promise<void>((resolve, reject) => {
    probe.once('error', (error) => reject(cannotListen(option, `${host}:${port}`, error)));
    probe.listen({ port, host, exclusive: true }, () => probe.close(() => resolve()));
  });
}

/** Serves gRPC on a Unix socket that the group may use. A socket left by a process that is gone is replaced. */
export async function listenGrpcUnix(root: string, path: string, register: (server: Server) => void): Promise<Bound> {
  const file = path.startsWith('/') ? path : join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  if (existsSync(file)) {
    if (await answers(file)) throw cannotListen('grpcUnix', file, new Error('EADDRINUSE'));
    rmSync(file);
  }
  const { close } = await bind(`unix:${file}`, ServerCredentials.createInsecure(), register, (error) =>
    cannotListen('grpcUnix', file, error),
  );
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
  register: (server: Server) => void,
  failure: (error: Error) => StartError,
): Promise<{ readonly port: number; readonly close: () => Promise<void> }> {
  const server = new Server(serverOptions());
  register(server);
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync(target, credentials, (error, bound) => (error === null ? resolve(bound) : reject(failure(error))));
  });
  return {
    port,
    close: () =>
      new Promise((resolve) => {
        server.tryShutdown(() => resolve());
        setTimeout(() => server.forceShutdown(), 1000).unref();
      }),
  };
}

/** Serves HTTP on `host:port`. */
export async function listenHttp(
  option: 'http' | 'monitoring',
  address: string,
  handler: RequestListener,
): Promise<Bound> {
  const parsed = parseAddress(address);
  if (parsed === undefined) throw new StartError(EXIT.config, `listen.${option}: "${address}" is no address`);
  const server: HttpServer = createServer({ maxHeaderSize: 16_384, requestTimeout: 10_000 }, handler);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(cannotListen(option, address, error)));
    server.listen(parsed.port, parsed.host, resolve);
  });
  const bound = server.address();
  const port = typeof bound === 'object' && bound !== null ? bound.port : parsed.port;
  const host = parsed.host.includes(':') ? `[${parsed.host}]` : parsed.host;
  return {
    address: `${host}:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
