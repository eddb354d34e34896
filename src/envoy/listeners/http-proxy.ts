import type { IpFamilies } from '../../model/scope.ts';
import { HTTP_PROXY_ROUTE } from '../names.ts';
import { listenerName, loopbacks } from './addresses.ts';
import type { OutboundListener } from './outbound.ts';

/**
 * The listener on which the workload can ask its proxy for any host, as of an HTTP proxy (MeshConfig `proxyHttpPort`).
 * @see istio/istio pilot/pkg/networking/core/listener.go `buildHTTPProxy`
 */
export function httpProxyListener(families: IpFamilies, port: number): OutboundListener {
  const binds = loopbacks(families);
  return {
    name: listenerName(binds[0], port),
    binds,
    port,
    toPort: true,
    chains: [{ match: {}, http: { route: HTTP_PROXY_ROUTE, absoluteUrls: true } }],
  };
}
