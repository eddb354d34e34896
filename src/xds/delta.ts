import {
  type DeltaDiscoveryRequest,
  decodeDeltaDiscoveryRequest,
  encodeDeltaDiscoveryResponse,
} from '../proto/discovery.ts';
import { changesPlan } from './changes.ts';
import { FRAME_HEADER, type Protocol, type TypeState } from './protocol.ts';

/**
 * The incremental variant.
 * @see https://www.envoyproxy.io/docs/envoy/latest/api-docs/xds_protocol "Incremental xDS"
 */
export const delta: Protocol<DeltaDiscoveryRequest> = {
  variant: 'delta',
  decode: decodeDeltaDiscoveryRequest,
  namesOf: (request) => request.resourceNamesSubscribe,
  sizeAfter: (request, state) => state.subscription.size + request.resourceNamesSubscribe.length,
  subscribe,
  tellsRemovals: (rule) => rule.removes,
  plan: (state, to, snapshots, holdRemovals) => changesPlan(state, to, snapshots, { removals: true, holdRemovals }),
  suspects: (_, content) => content.changed,
  encode: ({ typeUrl, version, nonce, content, controlPlane, allocate }) =>
    encodeDeltaDiscoveryResponse({
      typeUrl,
      nonce,
      controlPlane,
      systemVersionInfo: version,
      resources: content.changed,
      removedResources: content.removed,
      headroom: FRAME_HEADER,
      allocate,
    }),
};

/** Changes of the subscription count whatever the nonce: only the acknowledgement depends on it. */
function subscribe(
  state: TypeState,
  request: DeltaDiscoveryRequest,
  first: boolean,
  canonical: (name: string) => string,
): void {
  const { subscription, holdings, rule } = state;
  const added = request.resourceNamesSubscribe.map(canonical);
  const known = request.initialResourceVersions;
  holdings.refusals.forgive(added);
  if (first && known.size > 0) {
    holdings.claim(known);
    state.reconnected = true;
  }
  if (first && added.length === 0 && request.resourceNamesUnsubscribe.length === 0 && rule.wildcardByDefault) {
    subscription.subscribeToAll();
  }
  subscription.add(added, first && known.size > 0 ? known : undefined);
  subscription.delete(request.resourceNamesUnsubscribe);
  // A client that has nothing waits for its first answer, also when there is nothing to be had.
  if (first && known.size === 0 && subscription.active) subscription.oweAnswer();
}
