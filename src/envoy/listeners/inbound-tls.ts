import type { TLSConfig } from '#generated/config/specs.ts';
import type { envoy } from '#generated/proto/types.ts';
import {
  ALPN_HTTP,
  downstreamTlsSocket,
  meshTcpServerAlpn,
  SERVER_CIPHERS,
  type SecretSockets,
  serverIdentity,
  trustDomainNames,
} from '../tls-context.ts';

type DownstreamTlsContext = envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext;
type TransportSocket = envoy.config.core.v3.TransportSocket;

/** What TLS that ends at an inbound listener depends on. */
export interface InboundTls {
  /** MeshConfig `meshMTLS` and `tlsDefaults`. */
  readonly meshMtls: TLSConfig | undefined;
  readonly defaults: TLSConfig | undefined;
  /** Identities of these trust domains may call; none: all that the roots vouch for. */
  readonly trustDomains: readonly string[];
  /** The proxy's own certificate in files, as the node's metadata name them; empty texts: from its agent. */
  readonly serverFiles: { readonly certificate: string; readonly privateKey: string; readonly roots: string };
  readonly sockets: SecretSockets;
  /** Proxies tell each other over ALPN who they are. */
  readonly peerExchange: boolean;
}

/**
 * Mutual TLS of the mesh, in which the proxy shows the workload's certificate and asks for the caller's.
 * @see istio/istio pilot/pkg/security/authn/utils/utils.go `BuildInboundTLS`
 */
export function meshTlsSocket(speaks: 'HTTP' | 'TCP', tls: InboundTls): TransportSocket {
  const { meshMtls, trustDomains, serverFiles, sockets, peerExchange } = tls;
  const { certificate, privateKey, roots } = serverFiles;
  const names = trustDomainNames(trustDomains);
  const context: DownstreamTlsContext = {
    requireClientCertificate: true,
    commonTlsContext: {
      alpnProtocols: speaks === 'TCP' ? meshTcpServerAlpn(peerExchange) : ALPN_HTTP,
      tlsParams: {
        cipherSuites: meshMtls?.cipherSuites ?? SERVER_CIPHERS,
        tlsMinimumProtocolVersion: meshMtls?.minProtocolVersion === 'TLSV1_3' ? 'TLSv1_3' : 'TLSv1_2',
        tlsMaximumProtocolVersion: 'TLSv1_3',
      },
      ...serverIdentity(
        { certificates: [{ certificate, privateKey }], roots },
        sockets,
        names.length > 0 ? { matchSubjectAltNames: names } : {},
      ),
    },
  };
  return downstreamTlsSocket(context);
}
