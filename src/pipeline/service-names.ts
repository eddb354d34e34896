import { calledAddresses } from '../envoy/routes/addresses.ts';
import {
  type ClientDomain,
  clientDomain,
  type Domains,
  relevantDomain,
  serviceDomains,
} from '../envoy/routes/domains.ts';
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
  /** By what of the client and the configuration counts beside its domain. */
  readonly #domains = new Map<string, Memory<Service, Domains>>();
  readonly #keys = new Memory<readonly string[], VirtualHostKey>();

  /** The names of services for one client in the configuration of `listenPort`. */
  domainsFor(view: RouteView, listenPort: number): (service: RegisteredService, port: number) => Domains {
    const client = clientDomain(view.dnsDomain);
    const { ipv4, ipv6, inCluster, autoAddresses } = view.addresses;
    const memory = (suffix: number): Memory<Service, Domains> => {
      const about = [listenPort === 0, suffix, ipv4, ipv6, inCluster, autoAddresses].join();
      const known = this.#domains.get(about) ?? new Memory<Service, Domains>();
      this.#domains.set(about, known);
      return known;
    };
    if (listenPort === 0 || view.proxylessGrpc) {
      return (service, port) => remembered(memory(port), service, view, listenPort, port, client);
    }
    const portless = memory(0);
    return (service) => remembered(portless, service, view, listenPort, 0, client);
  }

  /** @param domains names that were got from here: those of most services are the same for most clients */
  key(domains: readonly string[], about: string, make: () => VirtualHostKey): VirtualHostKey {
    return this.#keys.get(domains, about, make);
  }
}

function remembered(
  memory: Memory<Service, Domains>,
  { hostname, service, others }: RegisteredService,
  view: RouteView,
  listenPort: number,
  suffix: number,
  client: ClientDomain,
): Domains {
  const dnsDomain = service.aliases.length === 0 ? relevantDomain(hostname, client) : client.dnsDomain;
  const make = (): Domains =>
    serviceDomains({
      hostname,
      aliases: service.aliases.map((alias) => alias.hostname),
      addresses: [...others, service].flatMap((one) => calledAddresses(one, view.addresses, listenPort !== 0)),
      headless: service.resolution === 'Passthrough' && service.registry === 'Kubernetes',
      port: suffix,
      dnsDomain,
    });
  return others.length > 0 ? make() : memory.get(service, dnsDomain, make);
}
