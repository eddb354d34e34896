import type { Gateway } from '#generated/config/specs.ts';
import type { Hostname } from '../base/host.ts';
import { append } from '../base/multimap.ts';
import type { Config, ConfigKey } from '../config/config.ts';
import { hostOfServer, isTlsServer, type MergedServer, mergedServer, routesRequests } from './merged-gateway-server.ts';
import { isHttp, type Protocol, parseProtocol } from './protocol.ts';

/** A Gateway as one proxy takes it. */
export interface GatewayOfProxy {
  readonly gateway: Pick<Config<Gateway>, 'key' | 'namespace' | 'name' | 'spec'>;
  /** Where the proxy listens for a port of the Gateway: the target ports of its own Service, where one has the port. */
  readonly listenPorts: (port: number) => readonly number[];
}

/** Servers at one place. All of an HTTP port are of one kind; with TLS each has its own filter chain. */
export interface MergedPort {
  /** Where the proxy listens. */
  readonly port: number;
  /** Empty: all addresses. */
  readonly bind: string;
  /** Of the first server. */
  readonly protocol: Protocol;
  /** Of HTTP servers: their common route configuration. */
  readonly route: string;
  readonly servers: readonly MergedServer[];
}

/** What of a server is not served, because an earlier one stands in its way. */
export interface GatewayConflict {
  readonly gateway: ConfigKey;
  /** Which of its servers. */
  readonly server: number;
  /** The hosts that another server of the port has; absent where the server as a whole can not share its port. */
  readonly hosts?: readonly Hostname[];
  /** `namespace/name` of the Gateway that stands in its way. */
  readonly by: string;
}

/** All Gateways of a proxy as one. */
export interface MergedGateway {
  /** In the order in which their first servers come. A place may stand here several times, with different protocols. */
  readonly ports: readonly MergedPort[];
  /** Servers by route configuration. */
  readonly routes: ReadonlyMap<string, readonly MergedServer[]>;
  /** Some server passes mutual TLS of the mesh on by its SNI. */
  readonly autoPassthrough: boolean;
  readonly conflicts: readonly GatewayConflict[];
}

/**
 * How far servers that are at odds are served: `widest` leaves out those hosts alone that another server has; `istiod` does as
 * istiod does, which leaves out a whole server for one such host, and may send what Envoy refuses.
 */
export type MergeStyle = 'widest' | 'istiod';

/**
 * Merges the Gateways of a proxy, oldest first: of two servers that can not share a port, and of two with the same host in one
 * TLS port, the earlier is served. Plaintext HTTP servers share a port, and so do servers with TLS; TLS beside plaintext needs
 * another address, or a plaintext server that comes later.
 *
 * @see istio/istio pilot/pkg/model/gateway.go `mergeGateways`
 */
export function mergeGateways(gateways: readonly GatewayOfProxy[], style: MergeStyle): MergedGateway {
  const merging = new Merging(style);
  for (const { gateway, listenPorts } of gateways) {
    for (const [index, server] of (gateway.spec.servers ?? []).entries()) {
      for (const port of listenPorts(server.port.number)) {
        const merged = mergedServer(server, `${gateway.namespace}/${gateway.name}`, port);
        merging.add(merged, { port, protocol: server.port.protocol, bind: merged.bind }, (by, hosts) => ({
          gateway: gateway.key,
          server: index,
          by,
          ...(hosts && { hosts }),
        }));
      }
    }
  }
  return merging.finished();
}

/** A place and the protocol as it is written: servers with another spelling are apart. */
interface Place {
  readonly port: number;
  readonly protocol: string;
  readonly bind: string;
}

interface Ports {
  readonly place: Place;
  route: string;
  servers: readonly MergedServer[];
}

type ConflictOver = (by: string, hosts?: readonly Hostname[]) => GatewayConflict;

class Merging {
  readonly #style: MergeStyle;
  readonly #taken = new Set<number>();
  /** Places of plaintext servers by port, the newest last. */
  readonly #plaintext = new Map<number, Place[]>();
  readonly #places = new Map<string, Ports>();
  readonly #routes = new Map<string, MergedServer[]>();
  /** `port bind host` of TLS servers, with the Gateways that have them. */
  readonly #tlsHosts = new Map<string, string>();
  readonly #conflicts: GatewayConflict[] = [];
  #autoPassthrough = false;

  constructor(style: MergeStyle) {
    this.#style = style;
  }

  finished(): MergedGateway {
    const ports = [...this.#places.values()].map(({ place: { port, bind, protocol }, route, servers }) => ({
      port,
      bind,
      protocol: parseProtocol(protocol),
      route,
      servers,
    }));
    return { ports, routes: this.#routes, autoPassthrough: this.#autoPassthrough, conflicts: this.#conflicts };
  }

  add(wanted: MergedServer, place: Place, conflict: ConflictOver): void {
    // istiod compares hosts of plaintext servers that redirect, too, though their requests are told apart by host.
    const compared = this.#style === 'istiod' ? wanted.tls !== undefined : isTlsServer(wanted);
    const server = compared ? this.#withFreeHosts(wanted, place, conflict) : wanted;
    if (server === undefined) return;
    if (!this.#taken.has(place.port)) {
      this.#taken.add(place.port);
      this.#open(server, place);
      return;
    }
    const plaintext = this.#plaintextNear(place);
    if (plaintext === undefined) this.#addBesideTls(server, place, conflict);
    else if (plaintext.bind === place.bind) this.#addToPlaintext(server, place, plaintext, conflict);
    else this.#addElsewhere(server, place);
  }

  /** istiod looks at the newest place alone, so that a third address parts servers that belong together. */
  #plaintextNear({ port, bind }: Place): Place | undefined {
    const places = this.#plaintext.get(port) ?? [];
    const newest = places.at(-1);
    return this.#style === 'istiod' ? newest : (places.find((place) => place.bind === bind) ?? newest);
  }

  /** Envoy tells TLS servers of a place apart by host, so that each host can have but one. */
  #withFreeHosts(server: MergedServer, { port, bind }: Place, conflict: ConflictOver): MergedServer | undefined {
    // The name that a client asks for says nothing of namespaces, which istiod does not mind.
    const id = (host: Hostname) => `${port} ${bind} ${this.#style === 'istiod' ? host : hostOfServer(host)}`;
    const shared = Map.groupBy(server.hosts, (host) => this.#tlsHosts.get(id(host)));
    const free = shared.get(undefined) ?? [];
    for (const [by, hosts] of shared) if (by !== undefined) this.#conflicts.push(conflict(by, hosts));
    if (free.length < server.hosts.length && (this.#style === 'istiod' || free.length === 0)) return undefined;
    for (const host of free) this.#tlsHosts.set(id(host), server.gateway);
    this.#autoPassthrough ||= server.tls?.mode === 'AUTO_PASSTHROUGH';
    return { ...server, hosts: free };
  }

  #open(server: MergedServer, place: Place): void {
    if (!isTlsServer(server)) append(this.#plaintext, place.port, place);
    if (routesRequests(server)) this.#routes.set(server.route, [server]);
    this.#places.set(idOf(place), { place, route: server.route, servers: [server] });
  }

  #addToPlaintext(server: MergedServer, { protocol }: Place, current: Place, conflict: ConflictOver): void {
    const held = this.#places.get(idOf(current));
    const alike = isHttp(parseProtocol(current.protocol)) && isHttp(parseProtocol(protocol));
    if (held === undefined || !alike) {
      this.#conflicts.push(conflict(held?.servers[0]?.gateway ?? ''));
      return;
    }
    held.servers = [...held.servers, server];
    append(this.#routes, server.route, server);
  }

  #addElsewhere(server: MergedServer, place: Place): void {
    const held = this.#places.get(idOf(place));
    if (held === undefined) {
      this.#open(server, place);
      return;
    }
    held.route = server.route;
    held.servers = [...held.servers, server];
    if (server.route !== '') append(this.#routes, server.route, server);
  }

  #addBesideTls(server: MergedServer, place: Place, conflict: ConflictOver): void {
    if (!isTlsServer(server)) {
      this.#open(server, place);
      return;
    }
    if (routesRequests(server)) {
      const [named] = this.#routes.get(server.route) ?? [];
      if (named !== undefined) {
        this.#conflicts.push(conflict(named.gateway));
        return;
      }
      this.#routes.set(server.route, [server]);
    }
    const held = this.#places.get(idOf(place));
    if (held === undefined) this.#places.set(idOf(place), { place, route: '', servers: [server] });
    else held.servers = [...held.servers, server];
  }
}

function idOf({ port, protocol, bind }: Place): string {
  return `${port} ${protocol} ${bind}`;
}
