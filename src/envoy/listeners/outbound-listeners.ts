import { type Hostname, isWildcardHost } from '../../base/host.ts';
import { isHttp, isTcp, isTls, type Protocol } from '../../model/protocol.ts';
import type { Service, ServicePort } from '../../model/service.ts';
import { hostRouteName, portRouteName } from '../names.ts';
import { alternativeHosts } from '../routes/domains.ts';
import { type Addresses, listenerName, WILDCARD_IPV6, wildcards } from './addresses.ts';
import { type ChainMatch, PLAINTEXT_TRANSPORT, sameMatch } from './chain-match.ts';
import { type L4Routes, type RoutedChain, routesOfHost, tcpRouteChains, tlsRouteChains } from './l4-routes.ts';
import { listenerProtocol, plaintextHttpAlpn } from './listener-protocol.ts';
import type { PlanView } from './plan-view.ts';
import { serviceAddress } from './service-address.ts';

/** A chain that routes requests. */
export interface HttpChainPlan {
  readonly kind: 'http';
  readonly match: ChainMatch;
  /** The route configuration's name. */
  readonly route: string;
  /** Browsers' form of gRPC is understood. */
  readonly grpcWeb: boolean;
  /** A wildcard host whose names are resolved by the request. */
  readonly dynamicHost?: string;
}

/** A chain that passes connections on. */
export interface TcpChainPlan {
  readonly kind: 'tcp';
  readonly match: ChainMatch;
  /** A port of a service, or a route of a VirtualService. */
  readonly to: { readonly serviceId: string; readonly host: Hostname; readonly port: number } | RoutedChain['route'];
  /** The VirtualService that gave it, as resources name it. */
  readonly path?: string;
  /** Of the listener: destinations that name no port are reached on it. */
  readonly port: ServicePort;
}

export type ChainPlan = HttpChainPlan | TcpChainPlan;

/** One outbound listener, before destinations and their policies are looked up. */
export interface PlannedListener {
  readonly name: string;
  readonly binds: Addresses;
  readonly port: number;
  readonly toPort: boolean;
  readonly chains: readonly ChainPlan[];
}

/** A port of a service at one place. */
export interface Addition {
  readonly service: Service;
  readonly port: ServicePort;
  readonly binds: Addresses;
  /** Blocks of addresses that are the service's, where the listener stands for more. */
  readonly destinations: readonly string[];
  readonly toPort: boolean;
  readonly virtualServices: readonly L4Routes[];
}

interface Entry extends Omit<PlannedListener, 'chains' | 'name'> {
  /** `Unsupported` when HTTP and TCP are told apart. */
  protocol: Protocol;
  chains: readonly ChainPlan[];
  /** A narrower egress listener has had this place: nothing is added. */
  locked: boolean;
}

/** Their servers speak first, so that a port of theirs cannot be looked into: they share a port with no other protocol. */
const SERVER_FIRST: ReadonlySet<Protocol> = new Set(['Mongo', 'MySQL']);

/** Listeners by place as they grow: who comes first wins where two services want the same. */
export class OutboundListeners {
  readonly #view: PlanView;
  readonly #entries = new Map<string, Entry>();

  constructor(view: PlanView) {
    this.#view = view;
  }

  /** Keeps all that there is as it is: what an egress listener with a port has chosen, a wider one does not add to. */
  lock(): void {
    for (const entry of this.#entries.values()) entry.locked = true;
  }

  finished(): ReadonlyMap<string, PlannedListener> {
    return new Map(
      [...this.#entries].map(([name, { binds, port, toPort, chains }]) => [
        name,
        { name, binds, port, toPort, chains },
      ]),
    );
  }

  /** @see istio/istio pilot/pkg/networking/core/listener.go `buildSidecarOutboundListener` */
  add(addition: Addition): void {
    const { port, binds, toPort } = addition;
    const name = listenerName(binds[0], port.port);
    const current = this.#entries.get(name);
    if (current?.locked) return;
    const kind = listenerProtocol(port.protocol);
    const replace = (chains: readonly ChainPlan[], protocol: Protocol): void => {
      this.#entries.set(name, { binds, port: port.port, toPort, chains, protocol, locked: false });
    };
    if (port.protocol === 'HTTP_PROXY') {
      replace([this.#httpChain(addition, {})], port.protocol);
      return;
    }
    const atWildcard = binds[0] === wildcards(this.#view.families)[0];
    const sniffed = {
      applicationProtocols: plaintextHttpAlpn(this.#view.http10),
      transportProtocol: PLAINTEXT_TRANSPORT,
    } as const;
    if (kind === 'HTTP') {
      // HTTP services of a port share one chain, and their requests are told apart by host.
      if (current !== undefined && !isTcp(current.protocol)) return;
      const chains = [this.#httpChain(addition, atWildcard ? sniffed : {})];
      if (current === undefined) replace(chains, atWildcard ? 'Unsupported' : port.protocol);
      else this.#merge(current, chains, port.protocol);
      return;
    }
    const tcp = this.#tcpChains(addition);
    const sniffsAlready = current !== undefined && !isHttp(current.protocol) && !isTcp(current.protocol);
    if (kind === 'TCP' || sniffsAlready) {
      if (current === undefined) replace(tcp, port.protocol);
      else this.#merge(current, tcp, port.protocol);
      return;
    }
    const chains = [...tcp, this.#httpChain(addition, sniffed)];
    if (current === undefined || isHttp(current.protocol)) replace(chains, port.protocol);
    else this.#merge(current, chains, port.protocol);
  }

  #merge(current: Entry, chains: readonly ChainPlan[], incoming: Protocol): void {
    const apart = SERVER_FIRST.has(incoming) || SERVER_FIRST.has(current.protocol);
    if (apart && incoming !== current.protocol) return;
    const merged = [...current.chains];
    for (const chain of chains) if (!merged.some(({ match }) => sameMatch(match, chain.match))) merged.push(chain);
    current.chains = merged;
    if (!isTcp(incoming) || !isTcp(current.protocol)) current.protocol = 'Unsupported';
  }

  #httpChain({ service, port, binds }: Addition, match: ChainMatch): HttpChainPlan {
    const own = listenerProtocol(port.protocol) === 'AUTO' && binds[0] !== wildcards(this.#view.families)[0];
    const dynamic = isWildcardHost(service.hostname) && service.resolution === 'DynamicDNS';
    return {
      kind: 'http',
      match,
      route: port.port === 0 ? binds[0] : own ? hostRouteName(service.hostname, port.port) : portRouteName(port.port),
      grpcWeb: port.protocol === 'GRPCWeb',
      ...(dynamic ? { dynamicHost: service.hostname } : {}),
    };
  }

  #tcpChains(addition: Addition): readonly TcpChainPlan[] {
    const { service, port, destinations } = addition;
    const tls = isTls(port.protocol);
    const routed = (tls ? tlsRouteChains : tcpRouteChains)({
      client: this.#view,
      virtualServices: routesOfHost(service.hostname, addition.virtualServices),
      port: port.port,
      destinations,
    });
    const chains = routed.chains.map(
      ({ match, route, path }): TcpChainPlan => ({
        kind: 'tcp',
        match,
        to: route,
        port,
        ...(path === undefined ? {} : { path }),
      }),
    );
    if (routed.complete) return chains;
    const serverNames = tls && this.#isToldByName(addition) ? this.#namesOf(service) : [];
    const match: ChainMatch = {
      ...(destinations.length > 0 ? { destinations } : {}),
      ...(serverNames.length > 0 ? { serverNames } : {}),
    };
    // A port that only the Sidecar names leads to the service's port if that has but one.
    const [only] = service.ports.length === 1 ? service.ports : [];
    const to = { serviceId: service.id, host: service.hostname, port: only?.port ?? port.port };
    return [...chains, { kind: 'tcp', match, to, port }];
  }

  /** Whether nothing but the name that the client asks for says that a TLS connection is for this service. */
  #isToldByName({ service, binds, destinations }: Addition): boolean {
    const [wildcard] = wildcards(this.#view.families);
    const known = serviceAddress(service, this.#view.addresses);
    const external6 = service.registry === 'External' && this.#view.families === 'IPv6';
    const address = known.includes('/') ? '' : external6 && known === '0.0.0.0' ? WILDCARD_IPV6 : known;
    return (
      destinations.length > 0 ||
      address === '' ||
      (address === wildcard && binds[0] === wildcard) ||
      (isWildcardHost(service.hostname) && service.resolution === 'DynamicDNS')
    );
  }

  #namesOf({ hostname, aliases }: Service): readonly string[] {
    const others = aliases.flatMap((alias) => [
      alias.hostname,
      ...alternativeHosts(alias.hostname, 0, this.#view.dnsDomain),
    ]);
    return [hostname, ...others];
  }
}
