/** What validation asks of a protocol. @see istio/istio pkg/config/protocol/instance.go */
interface Traits {
  readonly http?: true;
  readonly tcp?: true;
  readonly tls?: true;
  /** Can be forwarded to hosts that are resolved request by request. */
  readonly dynamic?: true;
}

const TRAITS: Readonly<Record<string, Traits>> = {
  tcp: { tcp: true },
  udp: {},
  grpc: { http: true, dynamic: true },
  'grpc-web': { http: true },
  http: { http: true, dynamic: true },
  http_proxy: { http: true },
  http2: { http: true, dynamic: true },
  https: { tcp: true, tls: true },
  tls: { tcp: true, tls: true, dynamic: true },
  mongo: { tcp: true },
  redis: { tcp: true },
  mysql: { tcp: true },
};

const NONE: Traits = {};

/** Of the protocol of a port, in letters of either case; of an unknown one nothing is true. */
export function protocolTraits(protocol: string | undefined): Traits {
  return TRAITS[(protocol ?? '').toLowerCase()] ?? NONE;
}

export function protocolProblem(protocol: string): string | undefined {
  if (Object.hasOwn(TRAITS, protocol.toLowerCase())) return undefined;
  const known = 'HTTP, HTTPS, HTTP2, GRPC, GRPC-WEB, TCP, TLS, UDP, MONGO, MYSQL and REDIS';
  return `"${protocol}" is not a protocol: ${known} are; leave it out to have it detected`;
}
