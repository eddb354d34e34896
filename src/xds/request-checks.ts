import type { Node } from '../proto/discovery.ts';
import { DecodeError } from '../proto/errors.ts';
import type { Limits } from './limits.ts';
import type { AnyRequest } from './protocol.ts';
import { ConnectError } from './provider.ts';

/** @throws ConnectError INVALID_ARGUMENT, in place of a DecodeError */
export function decoded<Request>(bytes: Uint8Array, decode: (bytes: Uint8Array) => Request, limits: Limits): Request {
  if (bytes.length > limits.maxRequestBytes) {
    throw new ConnectError(
      'RESOURCE_EXHAUSTED',
      `a request of ${bytes.length} bytes is larger than the ${limits.maxRequestBytes} that are allowed`,
    );
  }
  try {
    return decode(bytes);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw new ConnectError('INVALID_ARGUMENT', `the request is not a discovery request: ${error.message}`, {
      cause: error,
    });
  }
}

/** @throws ConnectError INVALID_ARGUMENT when the first request of a stream does not say who asks */
export function nodeOf({ node }: AnyRequest, { maxNameLength }: Limits): Node {
  if (node === undefined || node.id === '') {
    throw new ConnectError('INVALID_ARGUMENT', 'the first request of a stream must have a node with an id');
  }
  if (node.id.length > maxNameLength) {
    throw new ConnectError('INVALID_ARGUMENT', `the node's id is longer than ${maxNameLength} characters`);
  }
  return node;
}

/** @throws ConnectError INVALID_ARGUMENT when no type, or one that the service does not have, is asked for */
export function typeOf({ typeUrl }: AnyRequest, onlyType: string | undefined, { maxNameLength }: Limits): string {
  if (onlyType !== undefined && (typeUrl === '' || typeUrl === onlyType)) return onlyType;
  if (typeUrl === '')
    throw new ConnectError('INVALID_ARGUMENT', 'a request on an aggregated stream must have a type_url');
  if (typeUrl.length > maxNameLength) {
    throw new ConnectError('INVALID_ARGUMENT', `the type_url is longer than ${maxNameLength} characters`);
  }
  if (onlyType !== undefined) {
    throw new ConnectError('INVALID_ARGUMENT', `this service has the type ${onlyType}, not ${typeUrl}`);
  }
  return typeUrl;
}

/** @throws ConnectError when there are too many names, or one is too long */
export function checkNames(names: readonly string[], sizeAfter: number, { maxNames, maxNameLength }: Limits): void {
  if (sizeAfter > maxNames) {
    throw new ConnectError('RESOURCE_EXHAUSTED', `a subscription has at most ${maxNames} names of a type`);
  }
  const long = names.find((name) => name.length > maxNameLength);
  if (long !== undefined) {
    throw new ConnectError(
      'INVALID_ARGUMENT',
      `the resource name ${JSON.stringify(long.slice(0, 40))}… is longer than ${maxNameLength} characters`,
    );
  }
}
