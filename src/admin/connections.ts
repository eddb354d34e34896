import type { JsonObject } from '../base/json.ts';
import type { StreamStatus } from '../xds/events.ts';
import { json, type Route } from './http.ts';
import { shortType } from './short-type.ts';

/** Who is connected, and what each says of itself (istio/istio pilot/pkg/xds/debug.go `AdsClient`). */
export function connectionsRoute(streams: () => readonly StreamStatus[]): Route {
  return {
    path: '/debug/adsz',
    doc: 'connected proxies, with all that their nodes say; istiod diff reads it',
    answer: () => {
      const clients = streams().map(clientOf);
      return json({ totalClients: clients.length, clients });
    },
  };
}

function clientOf({ id, proxy, node, peer, variant, since, types }: StreamStatus): JsonObject {
  const { metadata = {}, locality } = node;
  return {
    connectionId: `${proxy}-${id}`,
    connectedAt: new Date(since).toISOString(),
    address: peer.address,
    identities: peer.identities,
    variant,
    labels: (metadata['LABELS'] as JsonObject | undefined) ?? {},
    metadata,
    ...(locality && { locality: { ...locality } }),
    nodeId: node.id,
    cluster: node.cluster,
    extensions: node.extensions.map(({ name }) => name),
    watches: Object.fromEntries(types.map((t) => [shortType(t.typeUrl), t.wildcard ? '*' : `${t.subscribed} names`])),
  };
}
