import type { Buffer } from 'node:buffer';
import {
  type Server,
  type ServerDuplexStream,
  type ServerUnaryCall,
  type ServiceDefinition,
  type ServiceError,
  type sendUnaryData,
  status,
} from '@grpc/grpc-js';
import type { envoy } from '#generated/proto/types.ts';
import { decodeMessage } from '../proto/decode.ts';
import { DecodeError } from '../proto/errors.ts';
import { encodeMessage } from '../proto/message.ts';
import { bytesMethod } from './bytes-method.ts';
import { MISTAKE } from './call.ts';
import { type Authenticate, callerOf } from './caller.ts';
import { type Client, resourcesOfClient, sizeOf } from './client-status.ts';
import type { StreamInfo } from './events.ts';
import { matchesNode } from './node-matcher.ts';
import { ConnectError, type Peer } from './provider.ts';
import type { AnyCall } from './transport.ts';

export interface ClientStatusOptions {
  clients(): readonly Client[];
  readonly authenticate: Authenticate;
  /**
   * Whether the peer may see a client.
   * @throws ConnectError when it may see none
   */
  seenBy(peer: Peer): (client: StreamInfo) => boolean;
  onError(error: unknown): void;
}

type Bytes = Uint8Array;

/** In one answer, which is made at one go. */
const MOST_RESOURCES = 100_000;

const NAME = 'envoy.service.status.v3.ClientStatusDiscoveryService';
const DEFINITION: ServiceDefinition = {
  StreamClientStatus: bytesMethod(`/${NAME}/StreamClientStatus`, true),
  FetchClientStatus: bytesMethod(`/${NAME}/FetchClientStatus`, false),
};

/**
 * What clients were sent and how they took it, for whoever may know (CSDS).
 *
 * Contents of resources are in the answer when a question fits one client: those of all proxies of a mesh are no answer to
 * anything, and can be as large as the memory.
 */
export function registerClientStatus(server: Server, options: ClientStatusOptions): void {
  server.addService(DEFINITION, {
    FetchClientStatus: (call: ServerUnaryCall<Buffer, Bytes>, callback: sendUnaryData<Bytes>) => {
      const refuse = (error: unknown): void => callback(failure(error, options));
      answer(call, call.request, options).then((bytes) => callback(null, bytes), refuse);
    },
    StreamClientStatus: (call: ServerDuplexStream<Buffer, Bytes>) => {
      call.on('data', (request: Buffer) => {
        // One question at a time: the next is read when the answer is written.
        call.pause();
        answer(call, request, options).then(
          (bytes) => call.write(bytes, () => call.resume()),
          (error: unknown) => call.emit('error', failure(error, options)),
        );
      });
      call.on('error', () => {});
      call.on('end', () => call.end());
    },
  });
}

async function answer(call: AnyCall, bytes: Bytes, options: ClientStatusOptions): Promise<Bytes> {
  const sees = options.seenBy(await options.authenticate(callerOf(call)));
  const { nodeMatchers = [], excludeResourceContents = false } = requestOf(bytes);
  const clients = options.clients().filter(({ status }) => sees(status) && matchesNode(status.node, nodeMatchers));
  const resources = clients.reduce((sum, client) => sum + sizeOf(client), 0);
  if (resources > MOST_RESOURCES) {
    throw new ConnectError(
      'RESOURCE_EXHAUSTED',
      `${clients.length} clients have ${resources} resources, and an answer tells of ${MOST_RESOURCES} at most: choose clients by node_matchers`,
    );
  }
  const contents = !excludeResourceContents && clients.length === 1;
  return encodeMessage('envoy.service.status.v3.ClientStatusResponse', {
    config: clients.map((client) => resourcesOfClient(client, contents)),
  });
}

function requestOf(bytes: Bytes): envoy.service.status.v3.ClientStatusRequest {
  try {
    return decodeMessage('envoy.service.status.v3.ClientStatusRequest', bytes);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw new ConnectError('INVALID_ARGUMENT', `the request is no ClientStatusRequest: ${error.message}`, {
      cause: error,
    });
  }
}

function failure(error: unknown, { onError }: ClientStatusOptions): Partial<ServiceError> {
  if (error instanceof ConnectError) return { code: status[error.code], details: error.message };
  onError(error);
  return { code: status.INTERNAL, details: MISTAKE };
}
