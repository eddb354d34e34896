import { Buffer } from 'node:buffer';
import { contentVersion } from '../base/hash.ts';
import { type DiscoveryRequest, decodeDiscoveryRequest, encodeDiscoveryResponse } from '../proto/discovery.ts';
import type { EncodedResource, ResourceDelta } from '../proto/resource-set.ts';
import { ENDPOINT_TYPE } from '../proto/type-urls.ts';
import { changesPlan } from './changes.ts';
import { UNKNOWN_VERSION } from './holdings.ts';
import { FRAME_HEADER, kept, type Plan, type Protocol, type TypeState } from './protocol.ts';
import { inOrder, resourceIn, type Snapshot, type Snapshots } from './snapshot.ts';

/**
 * The state-of-the-world variant.
 * @see https://www.envoyproxy.io/docs/envoy/latest/api-docs/xds_protocol "Basic Protocol Overview" and what follows
 */
export const sotw: Protocol<DiscoveryRequest> = {
  variant: 'sotw',
  decode: decodeDiscoveryRequest,
  namesOf: (request) => request.resourceNames,
  sizeAfter: (request) => request.resourceNames.length,
  subscribe,
  tellsRemovals: (rule) => rule.whole,
  plan: (state, to, snapshots, holdRemovals) =>
    state.rule.whole
      ? wholePlan(state, to, snapshots, holdRemovals)
      : changesPlan(state, to, snapshots, {
          removals: false,
          holdRemovals: false,
          ...(state.typeUrl === ENDPOINT_TYPE && { placeholder: emptyLoadAssignment }),
        }),
  suspects: ({ rule, holdings }, content) =>
    rule.whole
      ? content.changed.filter(({ name, version }) => holdings.accepted(name)?.version !== version)
      : content.changed,
  encode: ({ typeUrl, version, nonce, content, controlPlane, allocate }) =>
    encodeDiscoveryResponse({
      typeUrl,
      nonce,
      controlPlane,
      versionInfo: version,
      resources: content.changed,
      headroom: FRAME_HEADER,
      allocate,
    }),
};

/**
 * Requests arrive in the order in which the client made them, and each lists all names: the newest is right also when its
 * nonce is stale. Nothing is answered twice for it, since one response of a type is under way at most.
 */
function subscribe(
  state: TypeState,
  request: DiscoveryRequest,
  first: boolean,
  canonical: (name: string) => string,
): void {
  const { subscription, holdings, exchange, rule } = state;
  const names = request.resourceNames.map(canonical);
  holdings.refusals.forgive(names.filter((name) => !subscription.has(name)));
  subscription.replace(names, rule.wildcardByDefault);
  if (first) {
    state.claimedVersion = request.versionInfo;
    if (subscription.active) subscription.oweAnswer();
  } else if (request.responseNonce === '' && exchange.nonce !== '' && exchange.awaitedSince === undefined) {
    // A client that was answered and no longer knows a nonce has begun anew.
    subscription.oweEverything();
  }
  // A client that wants nothing of a type any more does not answer what is under way.
  if (!subscription.active) exchange.abandon();
}

function wholePlan(state: TypeState, to: Snapshot, snapshots: Snapshots, holdRemovals: boolean): Plan {
  const { subscription, holdings } = state;
  const difference = holdings.difference(to, snapshots);
  const fresh = kept(
    difference.changed,
    (resource) =>
      subscription.covers(resource.name) && !holdings.refusals.withholds(resource) && !holdings.lingersAs(resource),
  );
  const removed = kept(difference.removed, (name) => subscription.covers(name));
  const untold = holdRemovals ? removed : undefined;
  const lingers = holdings.lingering.keys().some((name) => resourceIn(to, name) === undefined);
  const removes = !holdRemovals && (removed.length > 0 || lingers);
  if (!subscription.active || (fresh.length === 0 && !removes && !subscription.owesAnswer)) {
    return { content: undefined, fresh: [], untold };
  }
  const lingering = holdRemovals ? stillServed(state, removed, to) : [];
  return { content: wholeContent(state, to, lingering), fresh, untold };
}

/** What is gone from the set, and stays in responses until its removal may be told. */
function stillServed({ holdings }: TypeState, removed: readonly string[], to: Snapshot): readonly EncodedResource[] {
  const before = removed.map((name) => holdings.remnant(name)).filter((resource) => resource !== undefined);
  return [...holdings.lingering.values(), ...before].filter(
    ({ name, version }) => version !== UNKNOWN_VERSION && resourceIn(to, name) === undefined,
  );
}

function wholeContent(
  { subscription, holdings }: TypeState,
  to: Snapshot,
  lingering: readonly EncodedResource[],
): ResourceDelta {
  if (subscription.wildcard && holdings.refusals.size === 0 && lingering.length === 0) return to.whole;
  const now = to.whole.changed.flatMap((resource) => {
    if (!subscription.covers(resource.name)) return [];
    if (!holdings.refusals.withholds(resource)) return [resource];
    // A refused resource that is left out would be removed: the client keeps the one that it took.
    return holdings.accepted(resource.name) ?? [];
  });
  return { changed: inOrder([...now, ...lingering]), removed: [] };
}

/**
 * Endpoints of a cluster that is not known: none. The state of the world has no word for "does not exist", and an Envoy that
 * lost its connection while the cluster was warming asks for nothing else until it is told (envoyproxy/envoy#9934;
 * istio/istio answers the same way, pilot/pkg/xds/endpoints/endpoint_builder.go).
 *
 * @returns a `ClusterLoadAssignment` with `cluster_name`, field 1, alone
 */
function emptyLoadAssignment(name: string): EncodedResource {
  const text = Buffer.from(name);
  const bytes = Buffer.concat([Uint8Array.of(0x0a, ...varint(text.length)), text]);
  return { name, version: contentVersion(bytes), bytes };
}

function varint(value: number): readonly number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >>> 7)];
}
