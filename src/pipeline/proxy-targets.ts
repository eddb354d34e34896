import type { EndpointSlice, KubeService, Pod, ServiceEntry } from '#generated/config/specs.ts';
import { isJsonObject } from '../base/json.ts';
import { type Labels, selects } from '../base/labels.ts';
import { compareStrings } from '../base/order.ts';
import type { Config, ConfigKey } from '../config/config.ts';
import { targetPortOn, targetPortOnEntry } from '../model/kube-service.ts';
import type { Proxy } from '../model/proxy.ts';
import type { ServiceTarget } from '../model/service.ts';
import { endpointsOfServiceEntry } from '../model/service-entry.ts';
import { proxyLabelsOfPod, type Workload } from '../model/workload.ts';
import type { Configuration } from './configuration.ts';
import type { Services } from './services.ts';
import type { Workloads } from './workloads.ts';

type KubePort = NonNullable<KubeService['ports']>[number];

export interface ProxyTargets {
  /** What the proxy's own workload serves, oldest service first, then by hostname. */
  targets(proxy: Proxy): readonly ServiceTarget[];
  /** The pod that the proxy's id names. */
  podOf(proxy: Proxy): Config<Pod> | undefined;
  /** Labels of the workload that the proxy belongs to; undefined when the configuration has none. */
  workloadLabels(proxy: Proxy): Labels | undefined;
}

/**
 * @see istio/istio pilot/pkg/serviceregistry/kube/controller/controller.go and serviceentry/controller.go `GetProxyServiceTargets`
 */
export function proxyTargets(configuration: Configuration, workloads: Workloads, services: Services): ProxyTargets {
  const keysAt = (proxy: Proxy, kind: string): readonly ConfigKey[] =>
    proxy.ips.flatMap((ip) => workloads.byAddress.get(ip)).filter((key) => key.split('/')[1] === kind);

  /** By a label that they ask for, so that an edit of one is no matter of workloads without it. */
  const bySelector = configuration.configs.index<string>('targetSelector', (config) => {
    const [first] = Object.entries(selectorOf(config) ?? {});
    return first === undefined ? [] : [selectorKey(config.kind, config.namespace, first)];
  });
  const selecting = (kind: string, namespace: string, labels: Labels): readonly ConfigKey[] =>
    Object.entries(labels).flatMap((label) => bySelector.get(selectorKey(kind, namespace, label)));

  const podOf = (proxy: Proxy): Config<Pod> | undefined => {
    const dot = proxy.id.indexOf('.');
    const [name, namespace] = dot < 0 ? [proxy.id, proxy.namespace] : [proxy.id.slice(0, dot), proxy.id.slice(dot + 1)];
    return configuration.config<Pod>(`/Pod/${namespace}/${name}`);
  };

  const entryOf = (proxy: Proxy): Workload | undefined => {
    const found = keysIn(workloads.byAddress.get(proxy.ips[0] ?? ''), 'WorkloadEntry')
      .flatMap((key) => workloads.workload.get(key) ?? [])
      .sort((a, b) => rank(b, proxy) - rank(a, proxy) || compareStrings(a.name, b.name));
    return found[0];
  };

  const selectingServices = (namespace: string, labels: Labels) =>
    [...selecting('Service', namespace, labels)]
      .sort()
      .flatMap((key) => configuration.config<KubeService>(key) ?? [])
      .filter(({ spec }) => selects(spec.selector, labels));

  const kubeTargets = (config: Config<KubeService>, target: (port: KubePort) => number | undefined) => {
    const service = services.servicesOfConfig.get(config.key)[0];
    if (service === undefined) return [];
    const seen = new Set<string>();
    return (config.spec.ports ?? []).flatMap((port, i): readonly ServiceTarget[] => {
      const targetPort = target(port);
      const servicePort = service.ports[i];
      if (targetPort === undefined || servicePort === undefined) return [];
      const id = `${targetPort} ${servicePort.protocol}`;
      if (seen.has(id)) return [];
      seen.add(id);
      return [{ service, port: servicePort, targetPort }];
    });
  };

  const sliceTargets = (proxy: Proxy): readonly ServiceTarget[] =>
    keysIn(workloads.byAddress.get(proxy.ips[0] ?? ''), 'EndpointSlice').flatMap((key) => {
      const slice = configuration.config<EndpointSlice>(key);
      if (slice === undefined || slice.namespace !== proxy.namespace) return [];
      const name = slice.labels['kubernetes.io/service-name'] ?? '';
      const service = services.servicesOfConfig.get(`/Service/${slice.namespace}/${name}`)[0];
      return (slice.spec.ports ?? []).flatMap((p) => {
        const port = service?.ports.find((own) => own.name === (p.name ?? ''));
        return service && port ? [{ service, port, targetPort: p.port ?? 0 }] : [];
      });
    });

  /** Objects are a cluster's: proxies of others have no part in Services, and say themselves how they are labelled. */
  const isElsewhere = ({ clusterId }: Proxy) => clusterId !== '' && clusterId !== workloads.context().clusterId;

  const kubernetesTargets = (proxy: Proxy): readonly ServiceTarget[] => {
    if (isElsewhere(proxy)) return [];
    const entry = entryOf(proxy);
    if (entry !== undefined) {
      return selectingServices(entry.namespace, entry.labels).flatMap((config) =>
        kubeTargets(config, (port) => (port.protocol === 'UDP' ? undefined : targetPortOnEntry(entry, port))).filter(
          ({ service }) => service.resolution === 'ClientSideLB',
        ),
      );
    }
    const pod = podOf(proxy);
    if (pod !== undefined) {
      const selecting = selectingServices(pod.namespace, pod.labels);
      if (selecting.length === 0) return sliceTargets(proxy);
      return selecting.flatMap((config) => kubeTargets(config, (port) => targetPortOn(pod, port)));
    }
    if (Object.keys(proxy.labels).length === 0) return [];
    const said = podPorts(proxy.metadata['POD_PORTS']);
    const selecting = selectingServices(proxy.namespace, proxy.labels);
    const ports = selecting.flatMap(({ spec }) => spec.ports ?? []);
    if (ports.some((port) => portAmong(said, port) === undefined)) return [];
    return selecting.flatMap((config) => kubeTargets(config, (port) => portAmong(said, port)));
  };

  const entryTargets = (proxy: Proxy): readonly ServiceTarget[] => {
    const written = new Set(keysAt(proxy, 'ServiceEntry'));
    const chosen = [...keysAt(proxy, 'WorkloadEntry'), ...keysAt(proxy, 'Pod')].flatMap(
      (key) => workloads.workload.get(key) ?? [],
    );
    const keys = new Set([
      ...written,
      ...chosen.flatMap(({ labels }) => selecting('ServiceEntry', proxy.namespace, labels)),
    ]);
    return [...keys].sort().flatMap((key) => {
      const config = configuration.config<ServiceEntry>(key);
      if (config === undefined || config.namespace !== proxy.namespace) return [];
      const selector = config.spec.workloadSelector?.labels;
      const mine = chosen.filter((w) => w.ready && w.namespace === config.namespace && isChosen(selector, w.labels));
      if (mine.length === 0 && !written.has(config.key)) return [];
      return services.servicesOfConfig.get(config.key).flatMap((service) => {
        const selected = selector === undefined ? undefined : mine;
        return endpointsOfServiceEntry(config, service.hostname, selected, workloads.context())
          .filter((e) => e.addresses.some((address) => proxy.ips.includes(address)))
          .flatMap((e) => {
            const port = service.ports.find((p) => p.port === e.servicePort && p.name === e.servicePortName);
            return port ? [{ service, port, targetPort: e.port }] : [];
          });
      });
    });
  };

  return {
    podOf,
    targets: (proxy) => [...kubernetesTargets(proxy), ...entryTargets(proxy)].sort(compareTargets),
    workloadLabels: (proxy) => {
      if (isElsewhere(proxy)) return undefined;
      const pod = podOf(proxy);
      if (pod !== undefined) return proxyLabelsOfPod(pod, workloads.contextOf(pod));
      const [service] = entryTargets(proxy);
      if (service === undefined) return undefined;
      const entries = keysAt(proxy, 'WorkloadEntry').flatMap((key) => workloads.workload.get(key) ?? []);
      const own = entries.find((w) => w.namespace === proxy.namespace);
      if (own !== undefined) return own.labels;
      return services.endpoints
        .get(`${service.service.namespace}/${service.service.hostname}`)
        .find((e) => e.addresses.some((address) => proxy.ips.includes(address)))?.labels;
    },
  };
}

function selectorOf({ kind, spec }: Config): Labels | undefined {
  if (kind === 'Service') return (spec as KubeService).selector;
  return kind === 'ServiceEntry' ? (spec as ServiceEntry).workloadSelector?.labels : undefined;
}

function selectorKey(kind: string, namespace: string, [name, value]: readonly [string, string]): string {
  return `${kind}/${namespace}/${name}=${value}`;
}

function keysIn(keys: readonly ConfigKey[], kind: string): readonly ConfigKey[] {
  return keys.filter((key) => key.split('/')[1] === kind);
}

function isChosen(selector: Labels | undefined, labels: Labels): boolean {
  return selector !== undefined && Object.keys(selector).length > 0 && selects(selector, labels);
}

/** An entry of the proxy's own name, then one of its namespace, before others with the same address. */
function rank({ name, namespace }: Workload, proxy: Proxy): number {
  return Number(proxy.id === `${name}.${namespace}`) * 2 + Number(namespace === proxy.namespace);
}

function compareTargets(a: ServiceTarget, b: ServiceTarget): number {
  return a.service.creationTime - b.service.creationTime || compareStrings(a.service.hostname, b.service.hostname);
}

/**
 * Before its pod is known, a proxy says in `POD_PORTS` what its containers listen on. One that says nothing is a machine, which
 * knows no names of ports: there a port is 0, for which traffic goes to where it was sent.
 *
 * @returns undefined when none of those that are said is meant
 */
function portAmong(said: readonly PodPort[], port: KubePort): number | undefined {
  const target = port.targetPort ?? port.port;
  if (typeof target === 'number' || /^\d+$/.test(target)) return Number(target);
  if (said.length === 0) return 0;
  const found = said.find(({ name, protocol = 'TCP' }) => name === target && protocol === (port.protocol ?? 'TCP'));
  return found?.containerPort;
}

interface PodPort {
  readonly name?: string;
  readonly protocol?: string;
  readonly containerPort?: number;
}

/** A list, or a list as JSON text; anything else is none. */
function podPorts(value: unknown): readonly PodPort[] {
  if (Array.isArray(value)) return value.filter(isJsonObject);
  if (typeof value !== 'string') return [];
  try {
    const parsed: unknown = JSON.parse(value);
    return Array.isArray(parsed) ? parsed.filter(isJsonObject) : [];
  } catch {
    return [];
  }
}
