import type { Buffer } from 'node:buffer';
import type { CallContext } from './call.ts';
import { FRAME_HEADER, TypeState } from './protocol.ts';
import type { Peer } from './provider.ts';
import { checkNames, decoded, nodeOf, typeOf } from './request-checks.ts';
import { NO_CHANGE } from './snapshot.ts';
import { sotw } from './sotw.ts';

/**
 * One state-of-the-world answer to one request.
 * @returns the `DiscoveryResponse`, without a frame
 * @throws ConnectError when the request or its node is refused
 */
export function fetched(bytes: Uint8Array, onlyType: string | undefined, peer: Peer, context: CallContext): Buffer {
  const { limits, provider, snapshots, frames } = context;
  const request = decoded(bytes, sotw.decode, limits);
  const node = nodeOf(request, limits);
  const typeUrl = typeOf(request, onlyType, limits);
  checkNames(request.resourceNames, request.resourceNames.length, limits);
  const session = provider.connect(node, peer);
  try {
    const state = new TypeState(typeUrl);
    sotw.subscribe(state, request, true, (name) => name);
    const { subscription } = state;
    subscription.imply(session.ask?.(typeUrl, subscription.names, subscription.wildcard));
    const plan = sotw.plan(state, snapshots.of(session.resources(typeUrl)), snapshots, false);
    return frames.frame(sotw, typeUrl, plan.content ?? NO_CHANGE, '').bytes.subarray(FRAME_HEADER);
  } finally {
    session.close();
  }
}
