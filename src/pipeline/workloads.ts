import type { Node, Pod, WorkloadEntry } from '#generated/config/specs.ts';
import { deepEqual } from '../base/equal.ts';
import { type Labels, selects } from '../base/labels.ts';
import { type Config, type ConfigKey, configKey } from '../config/config.ts';
import { NETWORK_LABEL } from '../config/network-labels.ts';
import type { Derived, Graph, Index } from '../derive/graph.ts';
import { networkOfAddress } from '../model/network-gateways.ts';
import {
  isHealthyEntry,
  podAddresses,
  type Workload,
  type WorkloadContext,
  workloadOfEntry,
  workloadOfPod,
} from '../model/workload.ts';
import type { Configuration } from './configuration.ts';
import type { MeshOptions } from './options.ts';

export interface Workloads {
  /** The workload of a Pod or WorkloadEntry; undefined when it has none (ended, without address, unhealthy). */
  readonly workload: Derived<ConfigKey, Workload | undefined>;
  /** Workloads of a namespace that a selector chooses: entries and ready pods by kind, then name. An empty one chooses none. */
  selected(namespace: string, selector: Labels): readonly Workload[];
  /** Pods, WorkloadEntries, ServiceEntries and EndpointSlices that name an address. */
  readonly byAddress: Index<string, ConfigKey>;
  context(): WorkloadContext;
  /** What the context of a pod has besides. */
  contextOf(pod: Config<Pod>): WorkloadContext;
}

const KINDS: ReadonlySet<string> = new Set(['Pod', 'WorkloadEntry']);

function labelsOf(config: Config): Labels {
  return config.kind === 'Pod' ? config.labels : { ...(config as Config<WorkloadEntry>).spec.labels, ...config.labels };
}

function addressesOf(config: Config): readonly string[] {
  switch (config.kind) {
    case 'Pod':
      return podAddresses(config as Config<Pod>);
    case 'WorkloadEntry':
      return [(config as Config<WorkloadEntry>).spec.address ?? ''];
    case 'ServiceEntry':
      return ((config.spec as { endpoints?: readonly WorkloadEntry[] }).endpoints ?? []).map((e) => e.address ?? '');
    case 'EndpointSlice':
      return ((config.spec as { endpoints?: readonly { addresses?: readonly string[] }[] }).endpoints ?? []).flatMap(
        (e) => e.addresses ?? [],
      );
    default:
      return [];
  }
}

export function deriveWorkloads(graph: Graph, configuration: Configuration, options: MeshOptions): Workloads {
  const { configs } = configuration;
  const byLabel = configs.index<string>('workloadLabel', (c) =>
    KINDS.has(c.kind) ? Object.entries(labelsOf(c)).map(([k, v]) => `${c.namespace}/${k}=${v}`) : [],
  );
  const byAddress = configs.index<string>('address', addressesOf);
  const defaultNetwork = graph.derived<'', string>(
    'defaultNetwork',
    () => configuration.namespaceLabels.get(options.rootNamespace)[NETWORK_LABEL] ?? '',
  );
  /** @see istio/istio pilot/pkg/serviceregistry/kube/controller/controller.go `Network` */
  const networkOf = (address: string, labels: Labels): string => {
    const label = labels[NETWORK_LABEL];
    if (label) return label;
    return defaultNetwork.get('') || networkOfAddress(configuration.networks.get(''), address, options.clusterId);
  };
  const context = (): WorkloadContext => ({
    trustDomain: configuration.trustDomain(),
    clusterId: options.clusterId,
    networkOf,
  });
  const nodeLocality = graph.derived<string, string>('nodeLocality', (name) => {
    const labels = configs.get(configKey('', 'Node', '', name) as ConfigKey)?.labels ?? {};
    const region = labels['topology.kubernetes.io/region'] ?? labels['failure-domain.beta.kubernetes.io/region'] ?? '';
    const zone = labels['topology.kubernetes.io/zone'] ?? labels['failure-domain.beta.kubernetes.io/zone'] ?? '';
    const subZone = labels['topology.istio.io/subzone'] ?? '';
    return region || zone || subZone ? `${region}/${zone}/${subZone}` : '';
  });
  const contextOf = ({ spec }: Config<Pod>) => ({ ...context(), nodeLocality: nodeLocality.get(spec.nodeName ?? '') });
  const workload = graph.derived<ConfigKey, Workload | undefined>(
    'workload',
    (key) => {
      const config = configuration.config<Node>(key);
      if (config?.kind === 'Pod') {
        const pod = config as Config<Pod>;
        return workloadOfPod(pod, contextOf(pod));
      }
      if (config?.kind !== 'WorkloadEntry') return undefined;
      const entry = config as Config<WorkloadEntry>;
      return isHealthyEntry(entry) ? workloadOfEntry(entry.spec, entry, context()) : undefined;
    },
    { equals: deepEqual },
  );
  return {
    workload,
    byAddress,
    context,
    contextOf,
    selected: (namespace, selector) => {
      const [first] = Object.entries(selector);
      if (first === undefined) return [];
      const candidates = byLabel.get(`${namespace}/${first[0]}=${first[1]}`);
      return candidates
        .flatMap((key) => workload.get(key) ?? [])
        .filter((w) => w.ready && selects(selector, w.labels))
        .sort(compareWorkloads);
    },
  };
}

function compareWorkloads(a: Workload, b: Workload): number {
  if (a.kind !== b.kind) return a.kind < b.kind ? -1 : 1;
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}
