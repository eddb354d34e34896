import type { envoy } from '#generated/proto/types.ts';
import type { JsonObject } from '../../base/json.ts';

type NetworkFilter = envoy.config.listener.v3.Filter;
type HttpFilter = envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter;

const NAME = 'istio.metadata_exchange';

/** Istio's own filters have no message that upstream Envoy knows: their config goes as a struct with the type's name. */
function typedStruct(typeUrl: string, value: JsonObject): NonNullable<NetworkFilter['typedConfig']> {
  return {
    '@type': 'type.googleapis.com/udpa.type.v1.TypedStruct',
    typeUrl: `type.googleapis.com/${typeUrl}`,
    value,
  };
}

/** Labels of the workload that peers are told beside the usual ones. */
function additionalLabels(labels: readonly string[]): JsonObject {
  return labels.length > 0 ? { additional_labels: labels } : {};
}

/** Proxies tell each other who they are over the ALPN `istio-peer-exchange`: first in every inbound filter chain. */
export function networkPeerMetadata(labels: readonly string[]): NetworkFilter {
  const value = { protocol: 'istio-peer-exchange', enable_discovery: true, ...additionalLabels(labels) };
  return { name: NAME, typedConfig: typedStruct('envoy.tcp.metadataexchange.config.MetadataExchange', value) };
}

const DISCOVERY: JsonObject[] = [{ istio_headers: {} }, { workload_discovery: {} }];

/** The same in headers of requests and responses. */
export function inboundHttpPeerMetadata(labels: readonly string[]): HttpFilter {
  const value = {
    downstream_discovery: DISCOVERY,
    downstream_propagation: [{ istio_headers: {} }],
    ...additionalLabels(labels),
  };
  return { name: NAME, typedConfig: typedStruct('io.istio.http.peer_metadata.Config', value) };
}

/** @param meshOnly servers outside of the mesh are told nothing */
export function outboundHttpPeerMetadata(labels: readonly string[], meshOnly: boolean): HttpFilter {
  const value = {
    upstream_discovery: DISCOVERY,
    upstream_propagation: [{ istio_headers: meshOnly ? { skip_external_clusters: true } : {} }],
    ...additionalLabels(labels),
  };
  return { name: NAME, typedConfig: typedStruct('io.istio.http.peer_metadata.Config', value) };
}
