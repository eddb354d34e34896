import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
}

/** An HTTP server that answers with its name, and remembers what it was asked. */
export class HttpBackend {
  readonly name: string;
  readonly requests: SeenRequest[] = [];
  /** Status of the next answers. */
  status = 200;
  readonly #server: Server;

  private constructor(name: string) {
    this.name = name;
    this.#server = createServer((request, response) => {
      this.requests.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers });
      request.resume();
      response.writeHead(this.status, { 'content-type': 'text/plain', 'x-backend': this.name });
      response.end(this.name);
    });
    // Longer than an Envoy keeps an idle connection in a test: the server never closes one under a request.
    this.#server.keepAliveTimeout = 120_000;
  }

  /** @param port 0: any free one */
  static start(name: string, port = 0, host = '127.0.0.1'): Promise<HttpBackend> {
    const backend = new HttpBackend(name);
    return new Promise((resolve, reject) => {
      backend.#server.once('error', reject);
      backend.#server.listen(port, host, () => resolve(backend));
    });
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  stop(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}
