import type { EndpointSlice, Endpoints, KubeService, ServiceEntry } from '#generated/config/specs.ts';
import { deepEqual, sameItems } from '../base/equal.ts';
import type { Hostname } from '../base/host.ts';
import { append } from '../base/multimap.ts';
import type { Config, ConfigKey } from '../config/config.ts';
import type { Derived, Graph } from '../derive/graph.ts';
import { aliasesByHost, type NamespacedHostname } from '../model/alias.ts';
import type { Endpoint } from '../model/endpoint.ts';
import { slicesOfEndpoints } from '../model/kube-endpoints.ts';
import { endpointsOfSelectedEntries, endpointsOfSlice, kubeHostname, serviceOfKube } from '../model/kube-service.ts';
import { compareServices, type Service } from '../model/service.ts';
import { endpointsOfServiceEntry, servicesOfServiceEntry } from '../model/service-entry.ts';
import { narrowedExport, widestVisibility } from '../model/service-entry-visibility.ts';
import { expandTrustDomains } from '../model/trust-domain.ts';
import { type Visibility, visibilityOf } from '../model/visibility.ts';
import type { Configuration } from './configuration.ts';
import { type NamespacedHost, ONE } from './mesh.ts';
import type { MeshOptions } from './options.ts';
import type { Vips } from './vips.ts';
import type { Workloads } from './workloads.ts';

export interface Services {
  readonly servicesOfHost: Derived<Hostname, readonly Service[]>;
  readonly service: Derived<NamespacedHost, Service | undefined>;
  readonly serviceById: Derived<string, Service | undefined>;
  /** Services by the namespace that they are exported to, public ones under `*`; each oldest first. */
  readonly serviceExports: Derived<'', ReadonlyMap<string, readonly Service[]>>;
  readonly visibleServices: Derived<string, readonly Service[]>;
  readonly visibility: Derived<string, Visibility>;
  readonly endpoints: Derived<NamespacedHost, readonly Endpoint[]>;
  readonly serviceAccounts: Derived<NamespacedHost, readonly string[]>;
  /** Services of one ServiceEntry or Kubernetes Service. */
  readonly servicesOfConfig: Derived<ConfigKey, readonly Service[]>;
}

const NO_SERVICES: readonly Service[] = [];
const NO_ENDPOINTS: readonly Endpoint[] = [];

export function deriveServices(
  graph: Graph,
  configuration: Configuration,
  workloads: Workloads,
  vips: Vips,
  options: MeshOptions,
): Services {
  const { configs } = configuration;
  const byHost = configs.index<Hostname>('serviceHost', (c) =>
    c.kind === 'ServiceEntry'
      ? ((c.spec as ServiceEntry).hosts ?? [])
      : c.kind === 'Service'
        ? [kubeHostname(c.name, c.namespace, options.domainSuffix)]
        : [],
  );
  const slicesOf = configs.index<string>('endpointSliceService', (c) =>
    c.kind === 'EndpointSlice'
      ? [`${c.namespace}/${c.labels['kubernetes.io/service-name'] ?? ''}`]
      : c.kind === 'Endpoints'
        ? [`${c.namespace}/${c.name}`]
        : [],
  );

  const defaultExport = () => configuration.facet('defaultServiceExportTo') ?? ['*'];
  const asFarAsAllowed = (service: Service): Service => {
    const setting = configuration.facet('serviceEntryVisibility');
    if (setting?.applyToSidecars !== true) return service;
    const widest = widestVisibility(setting, configuration.namespaceLabels.get(service.namespace));
    const exportTo = narrowedExport(service.exportTo, defaultExport(), service.namespace, widest);
    return exportTo === service.exportTo || exportTo === undefined ? service : { ...service, exportTo };
  };
  const declared = graph.derived<ConfigKey, readonly Service[]>(
    'declaredServices',
    (key) => {
      const config = configuration.config(key);
      if (config === undefined) return NO_SERVICES;
      const namespaceAnnotations = configuration.namespaceAnnotations.get(config.namespace);
      if (config.kind === 'ServiceEntry') {
        const entry = config as Config<ServiceEntry>;
        const found = servicesOfServiceEntry(entry, namespaceAnnotations, (host) => vips.autoAddress(entry, host));
        return found.map(asFarAsAllowed);
      }
      const { domainSuffix, persistentSessionLabel, persistentSessionHeaderLabel } = options;
      return [
        serviceOfKube(config as Config<KubeService>, {
          domainSuffix,
          trustDomain: configuration.trustDomain(),
          namespaceAnnotations,
          persistentSessionLabel,
          persistentSessionHeaderLabel,
        }),
      ];
    },
    { equals: deepEqual },
  );

  const externalNames = configs.index<'all'>('externalName', (c) =>
    c.kind === 'Service' && (c.spec as KubeService).type === 'ExternalName' ? ['all'] : [],
  );
  const aliases = graph.derived<'', ReadonlyMap<Hostname, readonly NamespacedHostname[]>>(
    'aliases',
    () => aliasesByHost(externalNames.get('all').flatMap((key) => declared.get(key))),
    { equals: deepEqual },
  );
  const servicesOfConfig = graph.derived<ConfigKey, readonly Service[]>(
    'services',
    (key) => {
      const services = declared.get(key);
      const known = aliases.get(ONE);
      if (known.size === 0 || !services.some((s) => known.has(s.hostname))) return services;
      return services.map((s) => ({ ...s, aliases: known.get(s.hostname) ?? s.aliases }));
    },
    { equals: deepEqual },
  );

  const servicesOfHost = graph.derived<Hostname, readonly Service[]>(
    'servicesOfHost',
    (host) =>
      byHost
        .get(host)
        .flatMap((key) => servicesOfConfig.get(key).filter((s) => s.hostname === host))
        .sort(compareServices),
    { equals: sameItems },
  );
  const service = graph.derived<NamespacedHost, Service | undefined>('service', (id) => {
    const [namespace, host] = split(id);
    const inNamespace = servicesOfHost.get(host).filter((s) => s.namespace === namespace);
    return inNamespace.find((s) => s.registry === 'Kubernetes') ?? inNamespace[0];
  });
  const serviceById = graph.derived<string, Service | undefined>('serviceById', (id) =>
    servicesOfHost.get(id.split('/')[2] ?? '').find((s) => s.id === id),
  );

  const all = graph.derived<'', readonly Service[]>(
    'allServices',
    () =>
      [...configuration.byKind.get('Service'), ...configuration.byKind.get('ServiceEntry')]
        .flatMap((key) => servicesOfConfig.get(key))
        .sort(compareServices),
    { equals: sameItems },
  );
  const visibility = graph.derived<string, Visibility>(
    'serviceVisibility',
    (id) => {
      const found = serviceById.get(id);
      if (found === undefined) return [];
      return visibilityOf(found.exportTo, defaultExport(), found.namespace);
    },
    { equals: deepEqual },
  );
  const serviceExports = graph.derived<'', ReadonlyMap<string, readonly Service[]>>('serviceExports', () => {
    const fallback = defaultExport();
    const out = new Map<string, Service[]>();
    for (const s of all.get(ONE)) {
      const seen = visibilityOf(s.exportTo, fallback, s.namespace);
      for (const namespace of seen === 'public' ? ['*'] : seen) append(out, namespace, s);
    }
    return out;
  });
  const visibleServices = graph.derived<string, readonly Service[]>(
    'visibleServices',
    (namespace) => {
      const exports = serviceExports.get(ONE);
      const own = exports.get(namespace);
      const shared = exports.get('*') ?? NO_SERVICES;
      return own === undefined ? shared : [...own, ...shared];
    },
    { equals: sameItems },
  );

  const podLookup = () => {
    const { networkOf } = workloads.context();
    return {
      byName: (namespace: string, name: string) => workloads.workload.get(`/Pod/${namespace}/${name}`),
      byAddress: (namespace: string, address: string) =>
        workloads.byAddress
          .get(address)
          .filter((key) => key.startsWith(`/Pod/${namespace}/`))
          .flatMap((key) => workloads.workload.get(key) ?? [])
          .find(({ ready }) => ready),
      clusterId: options.clusterId,
      networkOf,
      dualStack: options.dualStack,
    };
  };
  /** Endpoints objects count only for Services without a selector: all others have slices that say the same. */
  const slicesAt = (key: ConfigKey, mirrored: boolean): readonly Config<EndpointSlice>[] => {
    const config = configuration.config(key);
    if (config === undefined) return [];
    if (config.kind !== 'Endpoints') return [config as Config<EndpointSlice>];
    return mirrored ? slicesOfEndpoints(config as Config<Endpoints>) : [];
  };
  /** Key: `configKey hostname`. */
  const endpointsOfConfig = graph.derived<string, readonly Endpoint[]>('declaredEndpoints', (id) => {
    const [key = '', host = ''] = id.split(' ');
    const config = configuration.config(key);
    if (config === undefined) return NO_ENDPOINTS;
    if (config.kind === 'ServiceEntry') {
      const entry = config as Config<ServiceEntry>;
      const selector = entry.spec.workloadSelector?.labels;
      const chosen = selector === undefined ? undefined : workloads.selected(entry.namespace, selector);
      return endpointsOfServiceEntry(entry, host, chosen, workloads.context());
    }
    const kube = config as Config<KubeService>;
    const found = servicesOfConfig.get(key)[0];
    if (found === undefined) return NO_ENDPOINTS;
    const slices = slicesOf.get(`${kube.namespace}/${kube.name}`);
    const entries = workloads.selected(kube.namespace, kube.spec.selector ?? {}).filter((w) => w.kind !== 'Pod');
    const pods = podLookup();
    const present = slices.flatMap((key) => slicesAt(key, kube.spec.selector === undefined));
    return [
      ...uniqueEndpoints(present.flatMap((slice) => endpointsOfSlice(slice, found, pods))),
      ...endpointsOfSelectedEntries(kube, found, entries),
    ];
  });
  const endpoints = graph.derived<NamespacedHost, readonly Endpoint[]>(
    'endpoints',
    (id) => {
      const [namespace, host] = split(id);
      const owners = servicesOfHost.get(host).filter((s) => s.namespace === namespace);
      // A service of several addresses has each endpoint once for each of them, as istiod sends it.
      const keys = owners.map((s) => s.config);
      const roundRobin = owners.some((s) => s.resolution === 'DNSRoundRobinLB');
      const found = keys.flatMap((key) => endpointsOfConfig.get(`${key} ${host}`));
      return roundRobin ? firstOfEachPort(found) : found;
    },
    { equals: deepEqual },
  );
  const endpointAccounts = graph.derived<NamespacedHost, readonly string[]>(
    'endpointAccounts',
    (id) => [...new Set(endpoints.get(id).flatMap((e) => (e.serviceAccount === '' ? [] : [e.serviceAccount])))].sort(),
    { equals: sameItems },
  );
  const serviceAccounts = graph.derived<NamespacedHost, readonly string[]>(
    'serviceAccounts',
    (id) => {
      const [namespace, host] = split(id);
      // Of several objects with the host istiod knows what the newest says.
      const newest = servicesOfHost.get(host).findLast((s) => s.namespace === namespace);
      const declaredAccounts = newest?.serviceAccounts ?? [];
      const aliasesOfDomain = configuration.facet('trustDomainAliases') ?? [];
      return expandTrustDomains([...endpointAccounts.get(id), ...declaredAccounts], aliasesOfDomain);
    },
    { equals: sameItems },
  );
  return {
    servicesOfHost,
    service,
    serviceById,
    serviceExports,
    visibleServices,
    visibility,
    endpoints,
    serviceAccounts,
    servicesOfConfig,
  };
}

function split(id: NamespacedHost): readonly [string, Hostname] {
  const at = id.indexOf('/');
  return [id.slice(0, at), id.slice(at + 1)];
}

/** Several slices may name the same address and port while an endpoint moves between them. */
function uniqueEndpoints(endpoints: readonly Endpoint[]): readonly Endpoint[] {
  const seen = new Map<string, Endpoint>();
  for (const e of endpoints) {
    const id = `${e.addresses[0]} ${e.servicePortName}`;
    if (!seen.has(id)) seen.set(id, e);
  }
  return [...seen.values()];
}

/** LOGICAL_DNS clusters take one endpoint only. */
function firstOfEachPort(endpoints: readonly Endpoint[]): readonly Endpoint[] {
  const seen = new Set<number>();
  return endpoints.filter((e) => {
    if (seen.has(e.servicePort)) return false;
    seen.add(e.servicePort);
    return true;
  });
}
