import type { envoy } from '#generated/proto/types.ts';
import { packed } from '../../proto/message.ts';
import { ALPN_METADATA } from '../names.ts';

type HttpFilter = envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter;

/** The filter's name is the same for every Envoy, so that EnvoyFilters which look for it find it. */
const NAME = 'istio.alpn';

/**
 * Tells a server in the mesh, by the ALPN of mutual TLS, that HTTP is spoken inside and which version: its inbound listener
 * finds the filter chain by that. The plain names are for servers outside of the mesh. Istio's Envoy has a filter for it.
 */
export const istioAlpn: HttpFilter = {
  name: NAME,
  typedConfig: packed('istio.envoy.config.filter.http.alpn.v2alpha1.FilterConfig', {
    alpnOverride: [
      { upstreamProtocol: 'HTTP10', alpnOverride: ['istio-http/1.0', 'istio', 'http/1.0'] },
      { upstreamProtocol: 'HTTP11', alpnOverride: ['istio-http/1.1', 'istio', 'http/1.1'] },
      { upstreamProtocol: 'HTTP2', alpnOverride: ['istio-h2', 'istio', 'h2'] },
    ],
  }),
};

/**
 * The same for an Envoy without that filter: the cluster names its ALPN in its metadata, and the connection pool takes it from
 * the filter state. Clusters that name none keep what their TLS context says. (Tried with Envoy 1.40.)
 */
export const clusterAlpn: HttpFilter = {
  name: NAME,
  typedConfig: packed('envoy.extensions.filters.http.set_filter_state.v3.Config', {
    onRequestHeaders: [
      {
        objectKey: 'envoy.network.application_protocols',
        formatString: {
          textFormatSource: { inlineString: `%CLUSTER_METADATA(istio:${ALPN_METADATA})%` },
          omitEmptyValues: true,
        },
        skipIfEmpty: true,
        sharedWithUpstream: 'ONCE',
      },
    ],
  }),
};
