import type { Server, ServerTLSSettings } from '#generated/config/specs.ts';
import type { Hostname } from '../base/host.ts';
import { isHttp, type Protocol, parseProtocol } from './protocol.ts';

/** A server of a Gateway, as a proxy serves it. */
export interface MergedServer {
  /** `namespace/name` of the Gateway, by which VirtualServices bind to it. */
  readonly gateway: string;
  /** Empty when it has none. */
  readonly name: string;
  /** As written: matches on ports mean this number, wherever the proxy listens. */
  readonly port: number;
  readonly portName: string;
  readonly protocol: Protocol;
  /** Empty: all addresses. */
  readonly bind: string;
  /** `host`, or `namespace/host` for hosts of VirtualServices of that namespace alone. */
  readonly hosts: readonly Hostname[];
  /** Absent where nothing of TLS is said. On an HTTP server it can only redirect. */
  readonly tls?: ServerTLSSettings;
  /** The route configuration by which it routes requests; empty where it passes connections on. */
  readonly route: string;
}

/** Whether clients' TLS is passed on unopened. */
export function passesTls({ tls }: Pick<MergedServer, 'tls'>): boolean {
  const mode = tls === undefined ? undefined : (tls.mode ?? 'PASSTHROUGH');
  return mode === 'PASSTHROUGH' || mode === 'AUTO_PASSTHROUGH';
}

/** Whether clients speak TLS; an HTTP server that only redirects is none such. */
export function isTlsServer({ tls, protocol }: Pick<MergedServer, 'tls' | 'protocol'>): boolean {
  return tls !== undefined && !isHttp(protocol);
}

/** Whether requests are routed: HTTP, or HTTPS whose TLS ends here. */
export function routesRequests(server: Pick<MergedServer, 'tls' | 'protocol'>): boolean {
  return isHttp(server.protocol) || (server.protocol === 'HTTPS' && !passesTls(server));
}

/**
 * All HTTP servers of a port share a route configuration; each HTTPS server has its own, since its hosts have certificates of
 * their own.
 *
 * @see istio/istio pilot/pkg/model/gateway.go `gatewayRDSRouteName`
 */
function routeName({ port, bind = '', tls }: Server, protocol: Protocol, listenPort: number, gateway: string): string {
  const place = bind === '' ? '' : `.${bind}`;
  if (isHttp(protocol)) return `http.${listenPort}${place}`;
  if (!routesRequests({ protocol, ...(tls && { tls }) })) return '';
  const [namespace = '', name = ''] = gateway.split('/');
  return `https.${port.number}.${port.name}.${name}.${namespace}${place}`;
}

/** The namespace `.` before a host is the Gateway's own, `*` is every one. */
function serverHosts(hosts: readonly string[], namespace: string): readonly Hostname[] {
  if (hosts.includes('*/*')) return ['*'];
  return hosts.map((written) => {
    const slash = written.indexOf('/');
    const [scope, host] = [written.slice(0, slash), written.slice(slash + 1)];
    if (slash >= 0 && scope === '*') return host;
    return slash >= 0 && scope === '.' ? `${namespace}/${host}` : written;
  });
}

/** @param listenPort where the proxy listens for the server's port */
export function mergedServer(server: Server, gateway: string, listenPort: number): MergedServer {
  const { name = '', port, bind = '', hosts, tls } = server;
  const protocol = parseProtocol(port.protocol);
  return {
    gateway,
    name,
    port: port.number,
    portName: port.name,
    protocol,
    bind,
    hosts: serverHosts(hosts, gateway.slice(0, gateway.indexOf('/'))),
    ...(tls === undefined ? {} : { tls }),
    route: routeName(server, protocol, listenPort, gateway),
  };
}

/** The host without the namespace before it. */
export function hostOfServer(host: Hostname): Hostname {
  return host.slice(host.indexOf('/') + 1);
}

/** The names by which clients ask for the server in a TLS handshake, sorted. */
export function serverNames({ hosts, tls }: Pick<MergedServer, 'hosts' | 'tls'>): readonly Hostname[] {
  return tls === undefined ? [] : [...new Set(hosts.map(hostOfServer))].sort();
}

/** Hosts of the server that VirtualServices of a namespace may have. */
export function hostsForNamespace({ hosts }: Pick<MergedServer, 'hosts'>, namespace: string): readonly Hostname[] {
  return hosts.flatMap((host) => {
    const slash = host.indexOf('/');
    if (slash < 0) return [host];
    return host.slice(0, slash) === namespace ? [host.slice(slash + 1)] : [];
  });
}
