import type { envoy } from '#generated/proto/types.ts';
import { exactNames } from '../tls-context.ts';

type CommonTlsContext = envoy.extensions.transport_sockets.tls.v3.CommonTlsContext;
type TransportSocket = envoy.config.core.v3.TransportSocket;

/** gRPC takes a transport socket of no other name. */
const SOCKET = 'envoy.transport_sockets.tls';

/** Of the certificate provider `default` in the client's bootstrap. */
const IDENTITY = { instanceName: 'default', certificateName: 'default' };
const ROOTS = { instanceName: 'default', certificateName: 'ROOTCA' };

/**
 * Certificates of a provider that gRPC's bootstrap names, each twice: in the fields that gRPC reads today, and in those of gRPC
 * before 1.66.
 *
 * @param names SANs to expect of the peer; empty: any that the roots vouch for
 * @see istio/istio pilot/pkg/networking/grpcgen/grpcgen.go `buildCommonTLSContext`
 */
function commonTlsContext(names: readonly string[]): CommonTlsContext {
  const matchSubjectAltNames = names.length === 0 ? undefined : exactNames(names);
  return {
    tlsCertificateProviderInstance: IDENTITY,
    tlsCertificateCertificateProviderInstance: IDENTITY,
    combinedValidationContext: {
      defaultValidationContext: {
        caCertificateProviderInstance: ROOTS,
        ...(matchSubjectAltNames && { matchSubjectAltNames }),
      },
      validationContextCertificateProviderInstance: ROOTS,
    },
  };
}

function tlsSocket(message: 'UpstreamTlsContext' | 'DownstreamTlsContext', context: object): TransportSocket {
  const type = `type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.${message}`;
  return { name: SOCKET, typedConfig: { '@type': type, ...context } };
}

/** Mutual TLS to a server with one of these SANs. */
export function grpcClientTls(names: readonly string[]): TransportSocket {
  return tlsSocket('UpstreamTlsContext', { commonTlsContext: commonTlsContext(names) });
}

/** Mutual TLS with every client that the roots vouch for. gRPC refuses a server that names SANs of its clients. */
export function grpcServerTls(): TransportSocket {
  return tlsSocket('DownstreamTlsContext', { commonTlsContext: commonTlsContext([]), requireClientCertificate: true });
}
