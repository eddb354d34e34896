import type { envoy } from '#generated/proto/types.ts';

type Filter = envoy.config.cluster.v3.Filter;

/** Tells the peer over `istio-peer-exchange` which workload this is, and asks the same of it. Only Istio's Envoy has it. */
const METADATA_EXCHANGE: Filter = {
  name: 'istio.metadata_exchange',
  typedConfig: {
    '@type': 'type.googleapis.com/udpa.type.v1.TypedStruct',
    typeUrl: 'type.googleapis.com/envoy.tcp.metadataexchange.config.MetadataExchange',
    value: { enable_discovery: true, protocol: 'istio-peer-exchange' },
  },
};

export function metadataExchange(peerExchange: boolean): { filters?: readonly Filter[] } {
  return peerExchange ? { filters: [METADATA_EXCHANGE] } : {};
}
