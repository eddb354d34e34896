import { Buffer } from 'node:buffer';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import type { envoy } from '#generated/proto/types.ts';
import { decodeMessage } from '../../src/proto/decode.ts';
import { encodeMessage } from '../../src/proto/message.ts';

type CheckRequest = envoy.service.auth.v3.CheckRequest;
type CheckResponse = envoy.service.auth.v3.CheckResponse;

const AUTH = 'envoy.service.auth.v3';
const bytes = (value: Buffer): Buffer => value;

/** An authorizer that is asked over gRPC, on loopback (`envoy.service.auth.v3.Authorization`). */
export class GrpcAuthorizer {
  readonly asked: readonly CheckRequest[];
  readonly port: number;
  readonly #server: Server;

  private constructor(server: Server, port: number, asked: readonly CheckRequest[]) {
    this.#server = server;
    this.port = port;
    this.asked = asked;
  }

  static async start(decide: (request: CheckRequest) => CheckResponse): Promise<GrpcAuthorizer> {
    const server = new Server();
    const service = {
      check: {
        path: `/${AUTH}.Authorization/Check`,
        requestStream: false,
        responseStream: false,
        requestSerialize: bytes,
        requestDeserialize: bytes,
        responseSerialize: bytes,
        responseDeserialize: bytes,
      },
    } as const;
    const asked: CheckRequest[] = [];
    server.addService(service, {
      check: (call: { readonly request: Buffer }, done: (error: null, answer: Uint8Array) => void) => {
        const request = decodeMessage(`${AUTH}.CheckRequest`, call.request) as CheckRequest;
        asked.push(request);
        done(null, Buffer.from(encodeMessage(`${AUTH}.CheckResponse`, decide(request))));
      },
    });
    const port = await new Promise<number>((resolve, reject) => {
      const credentials = ServerCredentials.createInsecure();
      server.bindAsync('127.0.0.1:0', credentials, (error, bound) => (error ? reject(error) : resolve(bound)));
    });
    return new GrpcAuthorizer(server, port, asked);
  }

  [Symbol.dispose](): void {
    this.#server.forceShutdown();
  }
}
