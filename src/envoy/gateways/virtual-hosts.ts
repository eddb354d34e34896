import { commonHosts, compareHosts, type Hostname } from '../../base/host.ts';
import { compareStrings } from '../../base/order.ts';
import type { ConfigKey } from '../../config/config.ts';
import type { MergeStyle } from '../../model/merged-gateway.ts';
import { hostOfServer, hostsForNamespace, type MergedServer } from '../../model/merged-gateway-server.ts';
import { hostAndPort } from '../routes/domains.ts';

/** What names depend on of a VirtualService that is bound to a gateway. */
export interface BoundVirtualService {
  readonly key: ConfigKey;
  readonly namespace: string;
  readonly hosts: readonly Hostname[];
}

/** The routes of a VirtualService for requests that come by a server. */
export interface BoundRoutes {
  readonly virtualService: ConfigKey;
  readonly gateway: string;
  /** Of the server, as written. */
  readonly port: number;
  readonly isTls: boolean;
}

export interface GatewayHostsInput {
  /** Those of one route configuration, at least one. */
  readonly servers: readonly MergedServer[];
  /** Bound to the gateway of a server, in order of precedence; those without a host of it may be left out. */
  readonly virtualServices: (server: MergedServer) => readonly BoundVirtualService[];
  /** Whether any route of the VirtualService is for such requests. */
  readonly hasRoutes: (routes: BoundRoutes) => boolean;
  /** istiod writes hosts that are only redirected with the namespace before them, a name that no request has. */
  readonly style: MergeStyle;
}

export interface GatewayVirtualHost {
  /** `host:port`. */
  readonly name: string;
  readonly domains: readonly Hostname[];
  /** One after the other; those for all requests last. */
  readonly routes: readonly BoundRoutes[];
  /** The VirtualService that named it first; absent where a server alone names it. */
  readonly virtualService?: ConfigKey;
  /** Plaintext requests are sent to HTTPS. */
  readonly requiresTls: boolean;
}

interface Host {
  readonly name: string;
  readonly virtualService?: ConfigKey;
  routes: readonly BoundRoutes[];
  requiresTls: boolean;
}

/**
 * The virtual hosts of a route configuration of a gateway, in order of names. A host that several VirtualServices have gets the
 * routes of all of them; hosts with the same routes are one virtual host. Empty when no VirtualService has a host of a server.
 *
 * @see istio/istio pilot/pkg/networking/core/gateway.go `buildGatewayHTTPRouteConfig`
 */
export function gatewayVirtualHosts(input: GatewayHostsInput): readonly GatewayVirtualHost[] {
  const hosts = new Map<Hostname, Host>();
  const routesOf = new Map<string, BoundRoutes>();
  for (const server of input.servers) {
    const { gateway, port, tls } = server;
    const redirects = tls?.httpsRedirect === true;
    for (const { key, namespace, hosts: bound } of input.virtualServices(server)) {
      const common = commonHosts(hostsForNamespace(server, namespace), bound);
      if (common.length === 0) continue;
      // Routes are those of the first server by which requests can come.
      const id = `${gateway} ${key}`;
      const routes = routesOf.get(id) ?? { virtualService: key, gateway, port, isTls: tls !== undefined };
      if (!routesOf.has(id) && !input.hasRoutes(routes)) continue;
      routesOf.set(id, routes);
      for (const written of common) {
        const hostname = written.toLowerCase();
        const host = hosts.get(hostname);
        if (host === undefined) {
          const name = hostAndPort(hostname, port);
          hosts.set(hostname, { name, virtualService: key, routes: [routes], requiresTls: redirects });
        } else {
          host.routes = [...host.routes, routes];
          host.requiresTls ||= redirects;
        }
      }
    }
    if (redirects) addRedirects(server, hosts, input.style);
  }
  return collapsed(hosts).sort((a, b) => compareStrings(a.name, b.name));
}

function addRedirects(server: MergedServer, hosts: Map<Hostname, Host>, style: MergeStyle): void {
  for (const written of server.hosts) {
    const hostname = (style === 'istiod' ? written : hostOfServer(written)).toLowerCase();
    const host = hosts.get(hostname);
    if (host !== undefined) host.requiresTls = true;
    else hosts.set(hostname, { name: hostAndPort(hostname, server.port), routes: [], requiresTls: true });
  }
}

/** Hosts with the same routes share a virtual host, which is named after the most specific of them. */
function collapsed(hosts: ReadonlyMap<Hostname, Host>): GatewayVirtualHost[] {
  const virtualHosts: (Omit<GatewayVirtualHost, 'domains'> & { domains: readonly Hostname[] })[] = [];
  const lastWith = new Map<string, (typeof virtualHosts)[number]>();
  for (const hostname of [...hosts.keys()].sort(compareHosts)) {
    const host = hosts.get(hostname);
    if (host === undefined) continue;
    const id = host.routes.map(({ virtualService, gateway }) => `${gateway} ${virtualService}`).join();
    const known = lastWith.get(id);
    if (known?.requiresTls === host.requiresTls) {
      known.domains = [...known.domains, hostname];
      continue;
    }
    const virtualHost = { ...host, domains: [hostname] };
    virtualHosts.push(virtualHost);
    lastWith.set(id, virtualHost);
  }
  return virtualHosts;
}
