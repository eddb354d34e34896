import { Buffer } from 'node:buffer';
import { contentVersion } from '../base/hash.ts';
import type { Node } from '../proto/discovery.ts';
import type { EncodedResource } from '../proto/resource-set.ts';
import { type AnyRequest, framed, type Protocol } from './protocol.ts';
import type { Peer } from './provider.ts';

export interface Question {
  readonly typeUrl: string;
  readonly names: readonly string[];
  readonly node: Node;
  readonly peer: Peer;
}

/**
 * What a client may ask beside resources: it is answered once, as things are, and told of no change. Who asks need not be a
 * proxy.
 */
export interface Questions {
  has(typeUrl: string): boolean;
  /**
   * @returns resources whose versions do not count
   * @throws ConnectError when it is not to be answered (a rejected promise likewise)
   */
  answer(question: Question): readonly EncodedResource[] | Promise<readonly EncodedResource[]>;
}

/** The gRPC frame of an answer. @param count of the questions of the stream, so that nonces differ */
export function answerFrame(
  protocol: Pick<Protocol<AnyRequest>, 'encode'>,
  typeUrl: string,
  resources: readonly EncodedResource[],
  { count, controlPlane }: { readonly count: number; readonly controlPlane: string },
): Buffer {
  return framed(protocol, {
    typeUrl,
    version: contentVersion(Buffer.concat(resources.map((resource) => resource.bytes))),
    nonce: `answer-${count}`,
    content: { changed: resources, removed: [] },
    controlPlane,
  });
}
