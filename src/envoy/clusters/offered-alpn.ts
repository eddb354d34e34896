import type { UpstreamProtocol } from './http-options.ts';

/**
 * What requests to a server in the mesh offer as ALPN, by the HTTP that the proxy speaks to it: that HTTP is inside, for the
 * server's inbound listener, and the plain name of the version. Where the version is the client's own it is not named, and the
 * server sees it by looking.
 */
const OFFERED: Readonly<Record<UpstreamProtocol, string>> = {
  http1: 'istio-http/1.1,istio,http/1.1',
  unset: 'istio-http/1.1,istio,http/1.1',
  http2: 'istio-h2,istio,h2',
  downstream: 'istio-http/1.1,istio-h2,istio',
};

export interface OfferedAlpnInput {
  readonly protocol: UpstreamProtocol;
  /** DestinationRule `useClientProtocol`. */
  readonly clientProtocol: boolean;
  /** TLS ends at a proxy of the mesh. */
  readonly meshTls: boolean;
  /** The proxy has Istio's own filter for it. */
  readonly istioExtensions: boolean;
}

/** For the cluster's metadata, from where an Envoy without Istio's ALPN filter takes it; undefined where nothing is to be said. */
export function offeredAlpn(input: OfferedAlpnInput): string | undefined {
  if (input.istioExtensions || !input.meshTls) return undefined;
  return OFFERED[input.clientProtocol ? 'downstream' : input.protocol];
}
