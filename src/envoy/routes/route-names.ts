import type { Protocol } from '../../model/protocol.ts';
import { isHttp } from '../../model/protocol.ts';
import { type Service, UNSPECIFIED_ADDRESS } from '../../model/service.ts';
import { type AddressView, serviceAddress } from '../listeners/service-address.ts';
import { HTTP_PROXY_ROUTE, hostRouteName, portRouteName } from '../names.ts';

/** An egress listener as far as route configurations depend on it. */
export interface EgressRoutes {
  /** Absent for the listener of all ports; 0 for a Unix socket. */
  readonly port?: number;
  /** Of a listener with a port. */
  readonly protocol: Protocol;
  /** An address or the path of a Unix socket, or empty. */
  readonly bind: string;
  /** Nothing redirects connections to it, so that it is bound even where the others are not. */
  readonly unredirected: boolean;
  readonly services: readonly Service[];
}

/** Where the content of a route configuration comes from. */
export interface RouteSource {
  /** Which of the egress listeners; absent when none is for it. */
  readonly listener?: number;
  /** 0 for all ports of the listener's services. */
  readonly port: number;
  /** The configuration is for this host alone, whatever the requests name. */
  readonly host?: string;
}

export interface RouteNamesInput {
  readonly listeners: readonly EgressRoutes[];
  readonly view: AddressView;
  /** Nothing redirects the workload's connections. */
  readonly unredirected: boolean;
  /** The proxy takes requests for any host on a port of its own. */
  readonly httpProxy: boolean;
}

/**
 * The route configurations to which a sidecar's outbound listeners can refer, with their sources. It may be a few more than
 * the listeners do refer to, where ports can't be bound or several services want one.
 * @see istio/istio pilot/pkg/networking/core/listener.go `buildSidecarOutboundHTTPListenerOpts`
 */
export function routeSources(input: RouteNamesInput): ReadonlyMap<string, RouteSource> {
  const { listeners, httpProxy } = input;
  const sources = new Map<string, RouteSource>();
  const add = (name: string, port: number, host?: string): void => {
    if (!sources.has(name)) sources.set(name, sourceOf(name, port, host, listeners));
  };
  for (const listener of listeners) {
    if (listener.port === 0) {
      if (isHttp(listener.protocol) || listener.protocol === 'Unsupported') add(listener.bind, 0);
      continue;
    }
    for (const service of listener.services) {
      if (service.resolution === 'Alias') continue;
      for (const { port, protocol } of portsOf(listener, service)) {
        if (isHttp(protocol)) add(portRouteName(port), port);
        else if (protocol === 'Unsupported') {
          const { alone, shared } = placesOf(service, listener, input);
          if (alone) add(hostRouteName(service.hostname, port), port, service.hostname);
          if (shared) add(portRouteName(port), port);
        }
      }
    }
  }
  if (httpProxy) add(HTTP_PROXY_ROUTE, 0);
  return sources;
}

function portsOf(listener: EgressRoutes, service: Service): readonly { port: number; protocol: Protocol }[] {
  return listener.port === undefined ? service.ports : [{ port: listener.port, protocol: listener.protocol }];
}

interface Places {
  /** It has listeners at addresses of its own. */
  readonly alone: boolean;
  /** It is listened for at the wildcard. */
  readonly shared: boolean;
}

/** Where a service on a port of unknown protocol is listened for. */
function placesOf(service: Service, listener: EgressRoutes, { view, unredirected }: RouteNamesInput): Places {
  if (listener.bind !== '' || listener.unredirected || unredirected) return { alone: true, shared: false };
  const address = serviceAddress(service, view);
  if (address.includes('/')) return { alone: false, shared: true };
  if (address !== UNSPECIFIED_ADDRESS) return { alone: true, shared: false };
  // Its endpoints have a listener each, if they are known.
  const headless = service.resolution === 'Passthrough';
  return { alone: headless || (service.registry === 'Kubernetes' && !view.ipv4), shared: true };
}

/**
 * The first egress listener that is for the port or, for port 0, has the name as its bind; the one for all ports ends the search.
 * @see istio/istio pilot/pkg/model/sidecar.go `GetEgressListenerForRDS`
 */
export function sourceOf(
  name: string,
  port: number,
  host: string | undefined,
  listeners: readonly EgressRoutes[],
): RouteSource {
  const isFor = (listener: EgressRoutes) =>
    listener.port === undefined || (listener.port === port && (port !== 0 || listener.bind === name));
  const at = listeners.findIndex(isFor);
  const listener = listeners[at];
  if (listener === undefined) return { port };
  // On a port for proxy requests, any port of any service can be asked for.
  const anyPort = listener.port !== undefined && listener.protocol === 'HTTP_PROXY';
  return { listener: at, port: anyPort ? 0 : port, ...(host !== undefined && { host }) };
}
