import type { IstioEgressListener, Sidecar } from '#generated/config/specs.ts';
import { deepEqual } from '../base/equal.ts';
import { type Hostname, hostsOverlap, isSubsetOfHost, isWildcardHost, mostSpecificMatch } from '../base/host.ts';
import type { Config, ConfigKey } from '../config/config.ts';
import { parseProtocol } from './protocol.ts';
import type { EgressListener, SidecarScope, VirtualServiceHead } from './scope.ts';
import type { Service } from './service.ts';

/** What a Sidecar's scope is made from. */
export interface SidecarScopeInput {
  /** Of the proxies, which may differ from the Sidecar's own when that stands in the root namespace. */
  readonly namespace: string;
  readonly sidecar?: Config<Sidecar>;
  /** Of routers: no service comes first for being of their namespace, and routes import none. */
  readonly ofRouters: boolean;
  /** Services visible to the namespace, in order of precedence. */
  readonly services: readonly Service[];
  /** VirtualServices of gateway `mesh` visible to the namespace, in order of precedence. */
  readonly virtualServices: readonly VirtualServiceHead[];
  /** Destination hosts and ports of a VirtualService as clients of `namespace` may take them. */
  readonly destinationsOf: (virtualService: VirtualServiceHead) => VirtualServiceHead['destinations'];
  /** The service that a VirtualService's destination means for this namespace when no egress listener imports it. */
  readonly inferredService: (host: Hostname) => Service | undefined;
  readonly meshOutboundPolicy: SidecarScope['outboundTrafficPolicy'];
}

/** `hosts` of an egress listener for one namespace (or `*`). */
interface HostSet {
  readonly exact: Set<Hostname>;
  readonly all: Hostname[];
  readonly excluded: Hostname[];
}

const ANY_NAMESPACE = '*';

/**
 * @see istio/istio pilot/pkg/model/sidecar.go `convertToSidecarScope`, `DefaultSidecarScopeForGateway`
 */
export function sidecarScope(input: SidecarScopeInput): SidecarScope {
  const { namespace, sidecar, meshOutboundPolicy } = input;
  const written = sidecar?.spec.egress ?? [];
  const egress = written.length === 0 ? [importsAll(input)] : written.map((listener) => imports(listener, input));
  const services = importedServices(egress, input);
  return {
    namespace,
    ...(sidecar ? { sidecar } : {}),
    egress,
    services: [...services.values()],
    servicesByHostname: services,
    outboundTrafficPolicy: outboundPolicy(sidecar, meshOutboundPolicy),
  };
}

function outboundPolicy(
  sidecar: Config<Sidecar> | undefined,
  mesh: SidecarScope['outboundTrafficPolicy'],
): SidecarScope['outboundTrafficPolicy'] {
  const own = sidecar?.spec.outboundTrafficPolicy;
  if (own === undefined) return mesh;
  return { mode: own.mode ?? 'REGISTRY_ONLY', ...(own.egressProxy ? { egressProxy: own.egressProxy } : {}) };
}

function importsAll(input: SidecarScopeInput): EgressListener {
  return listenerOf(undefined, new Map([[ANY_NAMESPACE, { exact: new Set(), all: ['*'], excluded: [] }]]), input);
}

function imports(listener: IstioEgressListener, input: SidecarScopeInput): EgressListener {
  return listenerOf(listener, hostSets(listener.hosts ?? [], input.namespace), input);
}

/** `namespace/host`; `.` is the proxy's namespace, `~namespace` excludes. @see sidecar.go `convertIstioListenerToWrapper` */
function hostSets(hosts: readonly string[], own: string): ReadonlyMap<string, HostSet> {
  const out = new Map<string, HostSet>();
  for (const text of hosts) {
    const [left = '', host, ...more] = text.split('/');
    if (host === undefined || more.length > 0) continue;
    const excluded = left.startsWith('~');
    const named = excluded ? left.slice(1) || ANY_NAMESPACE : left;
    const namespace = named === '.' ? own : named;
    const set = out.get(namespace) ?? { exact: new Set(), all: [], excluded: [] };
    out.set(namespace, set);
    if (excluded) {
      set.excluded.push(host);
      continue;
    }
    if (!isWildcardHost(host)) set.exact.add(host);
    set.all.push(host);
  }
  return out;
}

function listenerOf(
  listener: IstioEgressListener | undefined,
  hosts: ReadonlyMap<string, HostSet>,
  input: SidecarScopeInput,
): EgressListener {
  const port = listener?.port;
  const matchPort = Boolean(port?.number) && parseProtocol(port?.protocol ?? '') !== 'HTTP_PROXY';
  const portNumber = matchPort ? port?.number : undefined;
  const virtualServices = selectVirtualServices(input.virtualServices, hosts);
  const selected = selectServices(input.services, hosts, portNumber);
  const services = input.ofRouters ? selected : oneNamespacePerHost(selected, input.namespace);
  return {
    ...(listener ? { listener } : {}),
    matchPort,
    services,
    virtualServices,
    mostSpecificVirtualService: mostSpecificVirtualServices(virtualServices, services),
  };
}

function isExcluded(host: Hostname, sets: readonly (HostSet | undefined)[]): boolean {
  return sets.some((set) => set?.excluded.some((pattern) => isSubsetOfHost(host, pattern)));
}

function importsHost({ exact, all }: HostSet, host: Hostname): boolean {
  if (exact.has(host)) return true;
  const wild = isWildcardHost(host);
  return all.some((pattern) => (wild || isWildcardHost(pattern)) && isSubsetOfHost(host, pattern));
}

function selectServices(
  services: readonly Service[],
  hosts: ReadonlyMap<string, HostSet>,
  port: number | undefined,
): Service[] {
  const anywhere = hosts.get(ANY_NAMESPACE);
  const out: Service[] = [];
  for (const service of services) {
    const own = hosts.get(service.namespace);
    if (isExcluded(service.hostname, [own, anywhere])) continue;
    const chosen =
      (own && importsHost(own, service.hostname) && trimmed(service, own, port)) ||
      (anywhere && importsHost(anywhere, service.hostname) && trimmed(service, anywhere, port));
    if (chosen) out.push(chosen);
  }
  return out;
}

/** The service with the listener's port alone and the aliases that the listener imports; undefined without that port. */
function trimmed(service: Service, hosts: HostSet, port: number | undefined): Service | undefined {
  const withPort = port === undefined ? service : withPorts(service, [port]);
  if (withPort === undefined || withPort.aliases.length === 0) return withPort;
  const aliases = withPort.aliases.filter(({ hostname }) => importsHost(hosts, hostname));
  return aliases.length === withPort.aliases.length ? withPort : { ...withPort, aliases };
}

function withPorts(service: Service, ports: readonly number[]): Service | undefined {
  const kept = service.ports.filter((p) => ports.includes(p.port));
  if (kept.length === 0) return undefined;
  return kept.length === service.ports.length ? service : { ...service, ports: kept };
}

/** Of a hostname in several namespaces the proxy's own wins, then one with a Kubernetes Service, then the first. */
function oneNamespacePerHost(services: readonly Service[], own: string): readonly Service[] {
  const chosen = new Map<Hostname, Service>();
  let several = false;
  for (const service of services) {
    const held = chosen.get(service.hostname);
    if (held === undefined) {
      chosen.set(service.hostname, service);
      continue;
    }
    if (held.namespace === service.namespace) {
      if (held.registry !== 'Kubernetes' && service.registry === 'Kubernetes') chosen.set(service.hostname, service);
      continue;
    }
    several = true;
    const kubernetesWins =
      held.registry !== 'Kubernetes' && service.registry === 'Kubernetes' && held.namespace !== own;
    if (service.namespace === own || kubernetesWins) chosen.set(service.hostname, service);
  }
  return several ? services.filter((s) => chosen.get(s.hostname)?.namespace === s.namespace) : services;
}

/** @see istio/istio pilot/pkg/model/virtualservice.go `SelectVirtualServices` */
function selectVirtualServices(
  virtualServices: readonly VirtualServiceHead[],
  hosts: ReadonlyMap<string, HostSet>,
): readonly VirtualServiceHead[] {
  const anywhere = hosts.get(ANY_NAMESPACE);
  return virtualServices.filter((vs) => {
    const own = hosts.get(vs.namespace);
    return [own, anywhere].some(
      (set) =>
        set !== undefined &&
        vs.hosts.some((host) => importsRoutesOf(set, host, vs.gatewaySemantics) && !isExcluded(host, [own, anywhere])),
    );
  });
}

function importsRoutesOf({ exact, all }: HostSet, host: Hostname, gatewaySemantics: boolean): boolean {
  if (exact.has(host)) return true;
  const wild = isWildcardHost(host);
  const covers = gatewaySemantics ? isSubsetOfHost : hostsOverlap;
  return all.some((pattern) => (wild || isWildcardHost(pattern)) && covers(host, pattern));
}

function mostSpecificVirtualServices(
  virtualServices: readonly VirtualServiceHead[],
  services: readonly Service[],
): ReadonlyMap<Hostname, ConfigKey> {
  const exact = new Map<Hostname, ConfigKey>();
  const wildcards = new Map<Hostname, ConfigKey>();
  for (const { hosts, key } of virtualServices) {
    for (const host of hosts) {
      const index = isWildcardHost(host) ? wildcards : exact;
      if (!index.has(host)) index.set(host, key);
    }
  }
  const out = new Map<Hostname, ConfigKey>();
  if (exact.size + wildcards.size === 0) return out;
  for (const { hostname } of services) {
    const key = mostSpecificMatch(hostname, exact, wildcards);
    if (key !== undefined) out.set(hostname, key);
  }
  return out;
}

/** Imported services and the destinations of imported VirtualServices, one per hostname, in order of arrival. */
function importedServices(
  egress: readonly EgressListener[],
  { destinationsOf, inferredService, ofRouters }: SidecarScopeInput,
): ReadonlyMap<Hostname, Service> {
  const out = new Map<Hostname, Service>();
  for (const { services, virtualServices, listener, matchPort } of egress) {
    for (const service of services) addService(out, service);
    if (ofRouters) continue;
    for (const vs of virtualServices) {
      for (const [host, ports] of destinationsOf(vs)) {
        const service = inferredService(host);
        if (service === undefined) continue;
        const named = matchPort ? [listener?.port?.number ?? 0] : ports;
        const wanted = named.length === 0 || named.includes(0) ? service : withPorts(service, named);
        if (wanted !== undefined) addService(out, wanted);
      }
    }
  }
  return out;
}

/** @see istio/istio pilot/pkg/model/sidecar.go `appendSidecarServices` */
function addService(into: Map<Hostname, Service>, service: Service): void {
  const held = into.get(service.hostname);
  if (held === undefined) {
    into.set(service.hostname, service);
    return;
  }
  if (held === service || (held.registry === 'Kubernetes' && service.registry !== 'Kubernetes')) return;
  if (held.registry !== 'Kubernetes' && service.registry === 'Kubernetes') {
    into.set(service.hostname, service);
    return;
  }
  if (deepEqual(held.ports, service.ports) || !canMerge(held, service)) return;
  const known = new Set(held.ports.map((p) => p.port));
  const ports = [...held.ports, ...service.ports.filter((p) => !known.has(p.port))];
  into.set(service.hostname, { ...held, ports });
}

function canMerge(a: Service, b: Service): boolean {
  return (
    a.namespace === b.namespace &&
    a.resolution === b.resolution &&
    a.registry === b.registry &&
    deepEqual(a.labels, b.labels) &&
    deepEqual(a.selector ?? {}, b.selector ?? {}) &&
    new Set(a.exportTo).symmetricDifference(new Set(b.exportTo)).size === 0
  );
}
