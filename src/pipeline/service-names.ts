import { calledAddresses } from '../envoy/routes/addresses.ts';
import { type Domains, relevantDomain, serviceDomains } from '../envoy/routes/domains.ts';
import type { RegisteredService } from '../envoy/routes/virtual-host-plan.ts';
import type { Service } from '../model/service.ts';
import type { RouteView } from './route-view.ts';
import type { VirtualHostKey } from './virtual-hosts.ts';

/** Results of a pure function by an object and a text, for as long as the object is in use. */
class Memory<K extends object, V> {
  readonly #results = new WeakMap<K, Map<string, V>>();

  get(of: K, about: string, make: () => V): V {
    const known = this.#results.get(of) ?? new Map<string, V>();
    this.#results.set(of, known);
    const held = known.get(about);
    if (held !== undefined) return held;
    const made = make();
    known.set(about, made);
    return made;
  }
}

/** Remembers the names of services, because those of all are needed again when one service is added. */
export class ServiceNames {
  readonly #domains = new Memory<Service, Domains>();
  readonly #keys = new Memory<readonly string[], VirtualHostKey>();

  /** The names of a service on a port, in the configuration of `listenPort`. */
  domains(
    { hostname, service, others }: RegisteredService,
    listenPort: number,
    port: number,
    view: RouteView,
  ): Domains {
    const suffix = listenPort !== 0 && !view.proxylessGrpc ? 0 : port;
    const dnsDomain = service.aliases.length === 0 ? relevantDomain(hostname, view.dnsDomain) : view.dnsDomain;
    const make = (): Domains =>
      serviceDomains({
        hostname,
        aliases: service.aliases.map((alias) => alias.hostname),
        addresses: [...others, service].flatMap((one) => calledAddresses(one, view.addresses, listenPort !== 0)),
        headless: service.resolution === 'Passthrough' && service.registry === 'Kubernetes',
        port: suffix,
        dnsDomain,
      });
    if (others.length > 0) return make();
    const { ipv4, ipv6, inCluster, autoAddresses } = view.addresses;
    const about = `${hostname}|${listenPort === 0}|${suffix}|${dnsDomain}|${ipv4}|${ipv6}|${inCluster}|${autoAddresses}`;
    return this.#domains.get(service, about, make);
  }

  /** @param domains names that were got from here: those of most services are the same for most clients */
  key(domains: readonly string[], about: string, make: () => VirtualHostKey): VirtualHostKey {
    return this.#keys.get(domains, about, make);
  }
}
