import { type Hostname, hostsOverlap, isWildcardHost } from '../../base/host.ts';
import { bracketed, hostAndPort } from '../routes/domains.ts';
import { hostAndPortOf } from './listener-names.ts';

/** What a route configuration's name, or a cluster's, says: `outbound|7070|v1|greeter.default.svc.cluster.local`. */
export interface OutboundName {
  readonly port: number;
  /** Empty: the whole service. */
  readonly subset: string;
  readonly hostname: Hostname;
}

/** @returns undefined for a name of another form */
export function outboundName(name: string): OutboundName | undefined {
  const [direction, port = '', subset = '', hostname = '', ...rest] = name.split('|');
  if (direction !== 'outbound' || hostname === '' || rest.length > 0 || !/^[1-9]\d*$/.test(port)) return undefined;
  return { port: Number(port), subset, hostname };
}

/**
 * Whether a virtual host is called by the host: gRPC asks for the routes of one host at a time.
 * @see istio/istio pilot/pkg/networking/grpcgen/rds.go `filterVirtualHostsForHostname`
 */
export function servesHost(domains: readonly string[], { hostname, port }: Omit<OutboundName, 'subset'>): boolean {
  const host = hostname.toLowerCase();
  const plain = bracketed(host);
  const withPort = hostAndPort(host, port);
  return domains.some((domain) => {
    if (isWildcardHost(domain)) return coversHost(domain.toLowerCase(), host, port);
    if (domain.length !== plain.length && domain.length !== withPort.length) return false;
    const folded = domain.toLowerCase();
    return folded === plain || folded === withPort;
  });
}

function coversHost(domain: string, host: string, port: number): boolean {
  const wildcard = hostAndPortOf(domain);
  return (wildcard.port === undefined || wildcard.port === String(port)) && hostsOverlap(wildcard.host, host);
}
