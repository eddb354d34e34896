import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';

export interface TextAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

export interface TextServerOptions {
  /** Default 0: any free one. */
  readonly port?: number;
  /** PEM; with them it speaks TLS. */
  readonly tls?: { readonly cert: string; readonly key: string };
}

/** A server on loopback whose answers a test changes; by path, and undefined leaves the client waiting. */
export class TextServer {
  readonly asked: string[] = [];
  readonly headers: IncomingHttpHeaders[] = [];
  answer: (path: string) => TextAnswer | undefined;
  readonly #server: Server;

  private constructor(server: Server, answer: TextServer['answer']) {
    this.#server = server;
    this.answer = answer;
  }

  static async start(answer: TextServer['answer'], { port = 0, tls }: TextServerOptions = {}): Promise<TextServer> {
    const server = tls === undefined ? createServer() : createTlsServer(tls);
    const started = new TextServer(server, answer);
    server.on('request', (request, response) => {
      const path = request.url ?? '';
      started.asked.push(path);
      started.headers.push(request.headers);
      const given = started.answer(path);
      if (given === undefined) return;
      response.writeHead(given.status ?? 200, given.headers);
      response.end(given.body ?? '');
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, '127.0.0.1', resolve);
    });
    return started;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await closed;
  }
}
