import type { Buffer } from 'node:buffer';
import type { MethodDefinition } from '@grpc/grpc-js';

const same = (bytes: Buffer): Buffer => bytes;

/**
 * A method of a gRPC service whose messages are bytes here: who serves it reads and writes them.
 *
 * @param streaming in both directions; otherwise one request has one response
 * @param responseSerialize what of a response is the message; all of it by default
 */
export function bytesMethod(
  path: string,
  streaming: boolean,
  responseSerialize: (response: Buffer) => Buffer = same,
): MethodDefinition<Buffer, Buffer> {
  return {
    path,
    requestStream: streaming,
    responseStream: streaming,
    requestSerialize: same,
    requestDeserialize: same,
    responseSerialize,
    responseDeserialize: same,
  };
}
