import { bracketed } from '../routes/domains.ts';

/** Of a client that resolves `xds:///host:port`, what its short names are completed with. */
export interface NamingClient {
  readonly namespace: string;
  readonly dnsDomain: string;
}

/** Names of listeners of servers begin with it; the address that the server listens on follows. */
export const SERVER_LISTENER_PREFIX = 'xds.istio.io/grpc/lds/inbound/';

/** Asks for the listeners of all services. */
export const ALL_LISTENERS = '*';

export interface HostAndPort {
  /** Without brackets. */
  readonly host: string;
  /** As it is written; undefined: all ports. */
  readonly port: string | undefined;
}

/** `host:port` taken apart; a text that has no port, or more colons than a host may have, is a host. */
export function hostAndPortOf(name: string): HostAndPort {
  const [, v6, host, port] = /^(?:\[([^[\]]*)\]|([^:[\]]*)):([^:[\]]*)$/.exec(name) ?? [];
  return port === undefined ? { host: name, port: undefined } : { host: v6 ?? host ?? '', port };
}

export function listenerNameOf(host: string, port: string | number): string {
  return `${bracketed(host)}:${port}`;
}

/**
 * The name of a listener of a client in an `xdstp:` name, which names an authority and the type too.
 * @see https://github.com/grpc/proposal/blob/master/A47-xds-federation.md
 */
const XDSTP_LISTENER = /^xdstp:\/\/[^/]*\/envoy\.config\.listener\.v3\.Listener\/([^?#]+)/;

/** The part of a name that says which listener is meant; undefined for an `xdstp:` name of something else. */
export function plainListenerName(name: string): string | undefined {
  if (!name.startsWith('xdstp:')) return name;
  const [, id] = XDSTP_LISTENER.exec(name) ?? [];
  try {
    return id === undefined ? undefined : decodeURIComponent(id);
  } catch {
    return undefined;
  }
}

/**
 * A short name in full: of the client's own namespace, as Kubernetes' DNS completes it.
 * @see istio/istio pilot/pkg/networking/grpcgen/lds.go `tryFindFQDN`
 */
export function fullHost(host: string, { namespace, dnsDomain }: NamingClient): string | undefined {
  if (!host.includes('.')) return `${host}.${dnsDomain}`;
  for (const suffix of [namespace, `${namespace}.svc`]) {
    if (host.endsWith(`.${suffix}`) && dnsDomain.startsWith(suffix)) {
      return `${host.slice(0, -suffix.length - 1)}.${dnsDomain}`;
    }
  }
  return undefined;
}

interface Request {
  /** Hosts as they were written. */
  readonly hosts: Set<string>;
  /** Undefined: all. */
  ports: Set<string> | undefined;
}

/**
 * What names of listeners come to. A service that is asked for by several of its names, or on several ports, is answered under
 * each of the names on each of the ports.
 *
 * @returns names as they were written, and `host:port` or a mere host for all its ports
 * @see istio/istio pilot/pkg/networking/grpcgen/lds.go `newListenerNameFilter`
 */
export function requestedListeners(names: Iterable<string>, client: NamingClient): ReadonlySet<string> {
  const requested = new Set<string>();
  const byHost = new Map<string, Request>();
  for (const name of names) {
    requested.add(name);
    if (name.startsWith(SERVER_LISTENER_PREFIX) || name.startsWith('xdstp:') || name === ALL_LISTENERS) continue;
    const { host, port } = hostAndPortOf(name);
    for (const key of new Set([host, fullHost(host, client) ?? host])) {
      const known = byHost.get(key);
      const request = known ?? { hosts: new Set(), ports: new Set() };
      request.hosts.add(host);
      if (port === undefined) request.ports = undefined;
      else request.ports?.add(port);
      byHost.set(key, request);
    }
  }
  for (const { hosts, ports } of byHost.values()) {
    for (const host of hosts) {
      if (ports === undefined) requested.add(host);
      else for (const port of ports) requested.add(listenerNameOf(host, port));
    }
  }
  return requested;
}

/** Whether a listener is among what `requestedListeners` gave. */
export function isRequested(requested: ReadonlySet<string>, name: string): boolean {
  return requested.has(name) || requested.has(hostAndPortOf(name).host);
}
