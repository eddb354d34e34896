import type { envoy } from '#generated/proto/types.ts';
import { networkPeerMetadata } from '../filters/peer-metadata.ts';
import type { ClusterView } from './view.ts';

type Filter = envoy.config.cluster.v3.Filter;

/** Tells the peer which workload this is, and asks the same of it. */
export function metadataExchange({ peerExchange, peerLabels = [] }: Pick<ClusterView, 'peerExchange' | 'peerLabels'>): {
  filters?: readonly Filter[];
} {
  return peerExchange ? { filters: [networkPeerMetadata(peerLabels)] } : {};
}
