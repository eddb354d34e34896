import type { ProxyConfig, Topology } from '#generated/config/specs.ts';
import type { envoy } from '#generated/proto/types.ts';

export type Direction = 'inbound' | 'outbound' | 'gateway';

type ConnectionManager = envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager;

const SERVER_NAME = 'istio-envoy';

/**
 * Which headers the proxy adds, and what it says in them (`proxyHeaders` of its ProxyConfig). Outbound answers keep Envoy's
 * default server name, `envoy`, for compatibility with what Istio has always sent.
 *
 * @see istio/istio pilot/pkg/networking/util/proxy_headers.go
 */
export function proxyHeaders({ proxyHeaders: headers }: ProxyConfig, direction: Direction): Partial<ConnectionManager> {
  const { server, requestId, xForwardedPort } = headers ?? {};
  const named = server?.value || (direction === 'outbound' ? '' : SERVER_NAME);
  return {
    ...(server?.disabled
      ? { serverHeaderTransformation: 'PASS_THROUGH' as const }
      : named === ''
        ? {}
        : { serverName: named }),
    ...(requestId?.disabled ? { generateRequestId: false } : {}),
    ...(xForwardedPort?.enabled ? { appendXForwardedPort: true } : {}),
  };
}

/** What an inbound proxy tells its workload about the certificate of the caller. */
export function clientCertificateHeaders({ proxyHeaders: headers }: ProxyConfig): Partial<ConnectionManager> {
  const forwarded = headers?.forwardedClientCert ?? 'UNDEFINED';
  const {
    subject = true,
    uri = true,
    dns = true,
    cert = false,
    chain = false,
  } = headers?.setCurrentClientCertDetails ?? {};
  return {
    forwardClientCertDetails: forwarded === 'UNDEFINED' ? 'APPEND_FORWARD' : forwarded,
    setCurrentClientCertDetails: { subject, uri, dns, cert, chain },
  };
}

/**
 * How far a gateway believes what proxies before it say of the caller, and what it tells the workloads behind it.
 * @see istio/istio pilot/pkg/networking/core/gateway.go `buildGatewayConnectionManager`
 */
export function edgeHeaders({ numTrustedProxies = 0, forwardClientCertDetails }: Topology): Partial<ConnectionManager> {
  const written = forwardClientCertDetails ?? 'UNDEFINED';
  const forwarded = written === 'UNDEFINED' ? 'SANITIZE_SET' : written;
  const adds = forwarded === 'SANITIZE_SET' || forwarded === 'APPEND_FORWARD';
  return {
    ...(numTrustedProxies > 0 ? { xffNumTrustedHops: numTrustedProxies } : {}),
    forwardClientCertDetails: forwarded,
    ...(adds ? { setCurrentClientCertDetails: { subject: true, cert: true, dns: true, uri: true } } : {}),
  };
}
