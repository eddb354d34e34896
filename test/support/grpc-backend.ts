import { Server, ServerCredentials } from '@grpc/grpc-js';

const same = (message: Buffer): Buffer => message;

const GREETER = {
  Name: {
    path: '/test.Greeter/Name',
    requestStream: false,
    responseStream: false,
    requestSerialize: same,
    requestDeserialize: same,
    responseSerialize: same,
    responseDeserialize: same,
  },
} as const;

/** A gRPC server on a free port of loopback that answers with its name, and knows nothing of xDS. */
export class GrpcBackend {
  readonly port: number;
  readonly #server: Server;

  private constructor(server: Server, port: number) {
    this.#server = server;
    this.port = port;
  }

  static async start(name: string): Promise<GrpcBackend> {
    const server = new Server();
    server.addService(GREETER, {
      Name: (_call: unknown, answer: (error: null, reply: Buffer) => void) => answer(null, Buffer.from(name)),
    });
    const port = await new Promise<number>((resolve, reject) => {
      server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
        error === null ? resolve(bound) : reject(error),
      );
    });
    return new GrpcBackend(server, port);
  }

  [Symbol.dispose](): void {
    this.#server.forceShutdown();
  }
}
