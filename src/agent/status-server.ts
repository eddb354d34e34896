import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type Address, formatAddress, isLoopback } from '../base/host-port.ts';
import { EXIT, StartError } from '../process/failure.ts';

export interface StatusServerOptions {
  readonly listen: Address;
  /** Why the workload is not ready; undefined: it is. */
  notReady(): Promise<string | undefined>;
  /** Metrics in the text format of Prometheus. */
  metrics(): Promise<string>;
  /** Ends the agent as SIGTERM does. */
  quit(): void;
}

export interface StatusServer {
  readonly address: Address;
  close(): Promise<void>;
}

/** Readiness, metrics, and the end of the agent over HTTP. @throws StartError when the address can not be taken */
export function listenForStatus(options: StatusServerOptions): Promise<StatusServer> {
  const { host, port } = options.listen;
  const server = createServer((request, response) => {
    answer(request, options).then(
      ({ status, body }) => send(response, status, body),
      (error: Error) => send(response, 500, error.message),
    );
  });
  server.requestTimeout = 10_000;
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const why =
        error.code === 'EADDRINUSE'
          ? 'another program does; write another statusPort into PROXY_CONFIG'
          : error.message;
      reject(new StartError(EXIT.unavailable, `the agent can not listen on ${formatAddress(options.listen)}: ${why}`));
    });
    server.listen({ host, port, exclusive: true }, () =>
      resolve({ address: { host, port: boundPort(server, port) }, close: () => closed(server) }),
    );
  });
}

function boundPort(server: Server, asked: number): number {
  const bound = server.address();
  return typeof bound === 'object' && bound !== null ? bound.port : asked;
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

function send(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' });
  response.end(body);
}

interface Answer {
  readonly status: number;
  readonly body: string;
}

/** @see istio/istio pilot/cmd/pilot-agent/status/server.go */
async function answer(request: IncomingMessage, options: StatusServerOptions): Promise<Answer> {
  const path = (request.url ?? '').split('?')[0];
  if (path === '/healthz/ready') {
    const why = await options.notReady();
    return why === undefined ? { status: 200, body: 'ready\n' } : { status: 503, body: `${why}\n` };
  }
  if (path === '/stats/prometheus' || path === '/metrics') return { status: 200, body: await options.metrics() };
  if (path === '/quitquitquit') return quit(request, options);
  return { status: 404, body: 'write /healthz/ready, /stats/prometheus, or POST /quitquitquit\n' };
}

/** For programs of this machine that the agent is to end with. Not for a browser, which sends an Origin. */
function quit({ method, socket, headers }: IncomingMessage, { quit: end }: StatusServerOptions): Answer {
  const from = (socket.remoteAddress ?? '').replace(/^::ffff:/, '');
  if (!isLoopback(from) || headers.origin !== undefined)
    return { status: 403, body: 'only programs of this machine may\n' };
  if (method !== 'POST') return { status: 405, body: 'write POST\n' };
  end();
  return { status: 200, body: 'the agent ends\n' };
}
