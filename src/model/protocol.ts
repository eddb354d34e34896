/** Protocols of a port, in Istio's spelling. @see istio/istio pkg/config/protocol/instance.go */
export type Protocol =
  | 'HTTP'
  | 'HTTP2'
  | 'HTTPS'
  | 'GRPC'
  | 'GRPCWeb'
  | 'HTTP_PROXY'
  | 'TCP'
  | 'TLS'
  | 'UDP'
  | 'Mongo'
  | 'Redis'
  | 'MySQL'
  | 'Unsupported';

const BY_NAME: Readonly<Record<string, Protocol>> = {
  tcp: 'TCP',
  udp: 'UDP',
  grpc: 'GRPC',
  'grpc-web': 'GRPCWeb',
  http: 'HTTP',
  http_proxy: 'HTTP_PROXY',
  http2: 'HTTP2',
  https: 'HTTPS',
  tls: 'TLS',
  mongo: 'Mongo',
  redis: 'Redis',
  mysql: 'MySQL',
};

/** `Unsupported` when the text names no protocol: the port's protocol is then detected by the proxy. */
export function parseProtocol(text: string): Protocol {
  return BY_NAME[text.toLowerCase()] ?? 'Unsupported';
}

export function isHttp(protocol: Protocol): boolean {
  return (
    protocol === 'HTTP' ||
    protocol === 'HTTP2' ||
    protocol === 'HTTP_PROXY' ||
    protocol === 'GRPC' ||
    protocol === 'GRPCWeb'
  );
}

export function isHttp2(protocol: Protocol): boolean {
  return protocol === 'HTTP2' || protocol === 'GRPC' || protocol === 'GRPCWeb';
}

export function isTcp(protocol: Protocol): boolean {
  return (
    protocol === 'TCP' ||
    protocol === 'HTTPS' ||
    protocol === 'TLS' ||
    protocol === 'Mongo' ||
    protocol === 'Redis' ||
    protocol === 'MySQL'
  );
}

export function isTls(protocol: Protocol): boolean {
  return protocol === 'HTTPS' || protocol === 'TLS';
}
