import type { Hostname } from '../../base/host.ts';
import { hostsOverlap, isWildcardHost } from '../../base/host.ts';
import { append } from '../../base/multimap.ts';
import { compareStrings } from '../../base/order.ts';
import type { ConfigKey } from '../../config/config.ts';
import { isHttp, type Protocol } from '../../model/protocol.ts';
import type { Service, ServicePort } from '../../model/service.ts';
import { type Domains, hostAndPort, hostDomains } from './domains.ts';

/** What names depend on of a VirtualService with HTTP routes for the port and the client in question. */
export interface PlannedVirtualService {
  readonly key: ConfigKey;
  readonly namespace: string;
  readonly hosts: readonly Hostname[];
  /** Made from a Gateway API route: its wildcards stand for themselves, and it counts only for its own namespace. */
  readonly gatewaySemantics: boolean;
}

/** A service and those of its ports that count. */
export interface RegisteredService {
  readonly hostname: Hostname;
  readonly service: Service;
  /** Other services of the same name, host and object, which differ only by their addresses. */
  readonly others: readonly Service[];
  readonly ports: Service['ports'];
}

/** By hostname. */
export type Registry = ReadonlyMap<Hostname, RegisteredService>;

export interface VirtualHostPlanInput {
  /** 0: the configuration is for every port of its services. */
  readonly listenPort: number;
  readonly registry: Registry;
  /** In order of precedence; those without routes for the port and the client are left out. */
  readonly virtualServices: readonly PlannedVirtualService[];
  /** Service hostname → the VirtualService that names it most specifically. */
  readonly mostSpecific: ReadonlyMap<Hostname, ConfigKey>;
  readonly clientNamespace: string;
  /** Names are written with their port too: gRPC without a proxy does not look past it. */
  readonly withPort: boolean;
  readonly domainsOf: (service: RegisteredService, port: number) => Domains;
}

/** A virtual host by its names; its routes are those of the VirtualService, or lead to the service. */
export interface PlannedVirtualHost {
  /** `host:port`. */
  readonly name: string;
  readonly port: number;
  readonly domains: readonly string[];
  readonly virtualService?: ConfigKey;
  /** Absent for a host of a VirtualService that is no known service. */
  readonly service?: RegisteredService;
}

/** The virtual hosts of a port, in order of their names. */
export interface VirtualHostPlan {
  readonly hosts: readonly PlannedVirtualHost[];
  /** In lower case every name that some host has, on whatever port, or that is the full name of a service. */
  readonly taken: ReadonlySet<string>;
}

/** Services that share routes on one port. */
interface Group {
  readonly port: number;
  readonly virtualService?: ConfigKey;
  readonly hosts: readonly Hostname[];
  readonly services: readonly RegisteredService[];
}

/** HTTP, or what may turn out to be HTTP. */
export function mayBeHttp(protocol: Protocol): boolean {
  return isHttp(protocol) || protocol === 'Unsupported';
}

/**
 * Services of an egress listener that have the port; with port 0 all of them. Of several with one hostname the last counts.
 * @see istio/istio pilot/pkg/networking/core/httproute.go `BuildSidecarOutboundVirtualHosts`
 */
export function registryOfPort(services: readonly Service[], listenPort: number): Registry {
  const registry = new Map<Hostname, RegisteredService>();
  for (const service of services) {
    const isListened = ({ port, protocol }: ServicePort) => port === listenPort && protocol !== 'UDP';
    const ports = listenPort === 0 ? service.ports : service.ports.filter(isListened).slice(0, 1);
    if (listenPort !== 0 && ports.length === 0) continue;
    const hostname = listenPort === 0 ? service.hostname : service.hostname.toLowerCase();
    const held = registry.get(hostname);
    // A ServiceEntry with several addresses is several services, all of which are called by its hosts.
    const others = held?.service.config === service.config ? [...held.others, held.service] : [];
    registry.set(hostname, { hostname, service, others, ports });
  }
  return registry;
}

/**
 * The virtual hosts of a port, each with its names, of which every one is unique. VirtualServices come first: where two want a
 * name, the one that comes first has it.
 *
 * @see istio/istio pilot/pkg/networking/core/httproute.go `BuildSidecarOutboundVirtualHosts`
 */
export function virtualHostPlan(input: VirtualHostPlanInput): VirtualHostPlan {
  const wildServices = [...input.registry.keys()].filter(isWildcardHost);
  const governed = input.virtualServices
    .filter((vs) => input.listenPort === 80 || namesAService(vs, input.registry, wildServices))
    .flatMap((virtualService) => governedGroups(virtualService, input));
  const governedHosts = new Set(governed.flatMap(({ services }) => services.map(({ hostname }) => hostname)));
  const others = [...input.registry.values()].filter(
    ({ hostname, service }) => !governedHosts.has(hostname) && service.resolution !== 'Alias',
  );
  const ungoverned = others.flatMap((service) =>
    service.ports
      .filter(({ protocol }) => mayBeHttp(protocol))
      .map(({ port }): Group => ({ port, hosts: [], services: [service] })),
  );
  const { planned, taken } = namedHosts([...governed, ...ungoverned], input);
  const called =
    input.listenPort === 0 ? planned.flatMap(calledOnPort) : planned.filter(({ port }) => port === input.listenPort);
  return { hosts: called.sort((a, b) => compareStrings(a.name, b.name)), taken };
}

/** Requests that name no port mean port 80, so that on other ports only names with the port count. */
function calledOnPort(host: PlannedVirtualHost): readonly PlannedVirtualHost[] {
  if (host.port === 80) return [host];
  const domains = host.domains.filter((domain) => domain.includes(':'));
  return domains.length === 0 ? [] : [{ ...host, domains }];
}

function namesAService(
  { hosts }: PlannedVirtualService,
  registry: Registry,
  wildServices: readonly Hostname[],
): boolean {
  return hosts.some((written) => {
    const host = written.toLowerCase();
    if (registry.has(host)) return true;
    const candidates = isWildcardHost(host) ? [...registry.keys()] : wildServices;
    return candidates.some((service) => hostsOverlap(host, service));
  });
}

/**
 * The hosts of a VirtualService: those that are services, by port, and the others. Hosts that are no services have routes
 * on port 80 even when none of the hosts is one.
 *
 * @see istio/istio pilot/pkg/networking/core/route/route.go `buildSidecarVirtualHostsForVirtualService`
 */
function governedGroups(virtualService: PlannedVirtualService, input: VirtualHostPlanInput): readonly Group[] {
  const { key, namespace, gatewaySemantics } = virtualService;
  const { hosts, services } = separatedHosts(virtualService, input);
  if (gatewaySemantics) {
    const local = input.clientNamespace === namespace;
    if (!services.some(({ service }) => local || service.namespace === namespace)) return [];
  }
  const byPort = new Map<number, RegisteredService[]>();
  for (const service of services) {
    for (const { port, protocol } of service.ports) if (mayBeHttp(protocol)) append(byPort, port, service);
  }
  if (byPort.size === 0 && input.listenPort === 80) byPort.set(80, []);
  return [...byPort].map(([port, ofPort]) => ({ port, virtualService: key, hosts, services: ofPort }));
}

interface SeparatedHosts {
  readonly hosts: readonly Hostname[];
  readonly services: readonly RegisteredService[];
}

/** A wildcard takes those services that no other VirtualService names more specifically. */
function separatedHosts(virtualService: PlannedVirtualService, input: VirtualHostPlanInput): SeparatedHosts {
  const { registry, mostSpecific } = input;
  const hosts: Hostname[] = [];
  const services: RegisteredService[] = [];
  for (const written of virtualService.hosts.filter((host) => !isWildcardHost(host))) {
    const service = registry.get(written.toLowerCase());
    if (service === undefined) hosts.push(written);
    else services.push(service);
  }
  for (const written of virtualService.hosts.filter(isWildcardHost)) {
    const host = written.toLowerCase();
    const matching = virtualService.gatewaySemantics
      ? []
      : [...registry].filter(([service]) => hostsOverlap(service, host)).map(([, service]) => service);
    if (matching.length === 0) hosts.push(host);
    services.push(...matching.filter(({ hostname }) => mostSpecific.get(hostname) === virtualService.key));
  }
  return { hosts, services };
}

interface NamedHosts {
  readonly planned: readonly PlannedVirtualHost[];
  readonly taken: ReadonlySet<string>;
}

function namedHosts(groups: readonly Group[], input: VirtualHostPlanInput): NamedHosts {
  const { withPort, domainsOf } = input;
  const names = new Set<string>();
  const claimed = new Set<string>();
  const known = fullNames(groups, input);
  const planned: PlannedVirtualHost[] = [];
  const add = (hostname: Hostname, { port, virtualService }: Group, service: RegisteredService | undefined): void => {
    const name = hostAndPort(hostname, port);
    if (names.has(name)) return;
    names.add(name);
    const wanted = service ? domainsOf(service, port) : hostDomains(hostname, withPort ? port : 0);
    const domains = claimedDomains(wanted, claimed, known);
    if (domains.length === 0) return;
    planned.push({ name, port, domains, ...(virtualService && { virtualService }), ...(service && { service }) });
  };
  for (const group of groups) {
    for (const host of group.hosts) add(host.toLowerCase(), group, undefined);
    for (const service of group.services) add(service.hostname, group, service);
  }
  return { planned, taken: claimed.union(known) };
}

/** Names that services have in full; with the port only where domains are written so. */
function fullNames(groups: readonly Group[], { listenPort, withPort }: VirtualHostPlanInput): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { port, services } of groups) {
    for (const { hostname } of services) {
      names.add(hostname);
      if (withPort || listenPort === 0) names.add(hostAndPort(hostname, port));
    }
  }
  return names;
}

/**
 * The names that nobody before has: the list as it is when that is all of them. A short form gives way to a service that
 * has it as its full name, wherever that service stands.
 */
function claimedDomains(
  { all, folded, alternative }: Domains,
  claimed: Set<string>,
  known: ReadonlySet<string>,
): readonly string[] {
  const free = all.filter((domain, i) => {
    const name = folded[i] ?? domain;
    if (claimed.has(name) || (known.has(domain) && alternative.has(domain))) return false;
    claimed.add(name);
    return true;
  });
  return free.length === all.length ? all : free;
}
