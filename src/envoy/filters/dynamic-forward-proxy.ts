import type { envoy } from '#generated/proto/types.ts';
import { packed } from '../../proto/message.ts';

type HttpFilter = envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter;
type NetworkFilter = envoy.config.listener.v3.Filter;
type DnsCacheConfig = envoy.extensions.common.dynamic_forward_proxy.v3.DnsCacheConfig;

/** Resolves the host of each request. The cluster that the request goes to has the same cache. */
export function httpForwardProxy(dnsCacheConfig: DnsCacheConfig): HttpFilter {
  return {
    name: 'envoy.filters.http.dynamic_forward_proxy',
    typedConfig: packed('envoy.extensions.filters.http.dynamic_forward_proxy.v3.FilterConfig', { dnsCacheConfig }),
  };
}

/** Resolves the server name that a TLS client asks for. */
export function tlsForwardProxy(dnsCacheConfig: DnsCacheConfig, port: number): NetworkFilter {
  return {
    name: 'envoy.extensions.filters.network.sni_dynamic_forward_proxy',
    typedConfig: packed('envoy.extensions.filters.network.sni_dynamic_forward_proxy.v3.FilterConfig', {
      dnsCacheConfig,
      portValue: port,
    }),
  };
}
