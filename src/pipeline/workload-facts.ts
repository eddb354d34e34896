import type {
  PolicyWorkloadSelector,
  ServiceEntry,
  WorkloadEntry,
  WorkloadGroup,
  WorkloadSelector,
} from '#generated/config/specs.ts';
import { deepEqual } from '../base/equal.ts';
import { canonicalJson } from '../base/intern.ts';
import { type Labels, selects } from '../base/labels.ts';
import type { Config, ConfigKey } from '../config/config.ts';
import type { Graph } from '../derive/graph.ts';
import type { MeshFacts, Selection } from '../model/analysis/facts.ts';
import { objectName } from '../model/analysis/names.ts';
import type { Mesh } from './mesh.ts';

export type WorkloadFacts = Pick<MeshFacts, 'hasWorkload' | 'selections' | 'contested'>;

type Contest = NonNullable<ReturnType<MeshFacts['contested']>>;

/** Of any kind that is for workloads. */
interface Selective {
  readonly workloadSelector?: WorkloadSelector;
  readonly selector?: PolicyWorkloadSelector;
  readonly targetRef?: object;
  readonly targetRefs?: readonly object[];
}

function selectionOf(config: Config<Selective>): Selection {
  const { workloadSelector, selector, targetRef, targetRefs } = config.spec;
  return {
    key: config.key,
    name: objectName(config),
    labels: workloadSelector?.labels ?? selector?.matchLabels,
    isSelective: workloadSelector !== undefined || selector !== undefined,
    isTargeted: targetRef !== undefined || targetRefs !== undefined,
  };
}

const NO_LABELS: readonly Labels[] = [];

/** Labels of the workloads that an object stands for. */
function labelsOf({ kind, spec, labels }: Config): readonly Labels[] {
  switch (kind) {
    case 'Pod':
      return [labels];
    case 'WorkloadEntry':
      return [{ ...(spec as WorkloadEntry).labels, ...labels }];
    case 'WorkloadGroup': {
      const { template, metadata } = spec as WorkloadGroup;
      return [{ ...template.labels, ...metadata?.labels }];
    }
    case 'ServiceEntry':
      return ((spec as ServiceEntry).endpoints ?? []).flatMap((endpoint) => (endpoint.labels ? [endpoint.labels] : []));
    default:
      return NO_LABELS;
  }
}

function* pairs(sets: readonly Labels[]): Generator<string> {
  for (const labels of sets) for (const [key, value] of Object.entries(labels)) yield `${key}=${value}`;
}

/** What analyzers ask about workloads: those of files, and connected proxies. */
export function deriveWorkloadFacts(graph: Graph, mesh: Mesh): WorkloadFacts {
  const byLabel = mesh.configs.index<string>('selectableLabel', (config) => pairs(labelsOf(config)));
  const proxiesByLabel = mesh.proxies.index<string>('label', ({ labels }) => pairs([labels]));
  const labels = graph.derived<ConfigKey, readonly Labels[]>(
    'selectableLabels',
    (key) => {
      const config = mesh.config(key);
      return config === undefined ? NO_LABELS : labelsOf(config);
    },
    { equals: deepEqual },
  );
  /** Key `namespace|labels in JSON`. */
  const present = graph.derived<string, boolean>('hasWorkload', (id) => {
    const at = id.indexOf('|');
    const namespace = id.slice(0, at);
    const selector = JSON.parse(id.slice(at + 1)) as Labels;
    const [first] = pairs([selector]);
    if (first === undefined) return true;
    const isHere = (other: string) => namespace === '*' || namespace === other;
    const listed = byLabel.get(first).some((key) => {
      const [, , own = ''] = key.split('/');
      return isHere(own) && labels.get(key).some((set) => selects(selector, set));
    });
    return (
      listed ||
      proxiesByLabel.get(first).some((key) => {
        const proxy = mesh.proxies.get(key);
        return proxy !== undefined && isHere(proxy.namespace) && selects(selector, proxy.labels);
      })
    );
  });

  /** Key `Kind/namespace`. */
  const selections = graph.derived<string, readonly Selection[]>(
    'selections',
    (id) => {
      const [kind = '', namespace = ''] = id.split('/');
      return mesh.ofKindIn<Selective>(kind, namespace).map(selectionOf);
    },
    { equals: deepEqual },
  );
  /** Key `Kind/namespace`. */
  const contests = graph.derived<string, ReadonlyMap<ConfigKey, Contest>>(
    'contests',
    (id) => {
      const selectors = selections.get(id).filter((s) => Object.keys(s.labels ?? {}).length > 0);
      const out = new Map<ConfigKey, Contest>();
      if (selectors.length < 2) return out;
      const [, namespace = ''] = id.split('/');
      const workloads = ['WorkloadEntry', 'Pod'].flatMap((kind) => mesh.byKindNamespace.get(`${kind}/${namespace}`));
      for (const workload of workloads) {
        const [own] = labels.get(workload);
        const selecting = selectors.filter((one) => own !== undefined && selects(one.labels, own));
        if (selecting.length < 2) continue;
        for (const { key } of selecting) {
          const others = selecting.filter((other) => other.key !== key).map(({ name }) => name);
          if (!out.has(key)) out.set(key, { workload: workload.split('/').slice(2).join('/'), others });
        }
      }
      return out;
    },
    { equals: deepEqual },
  );
  const contest = graph.derived<ConfigKey, Contest | undefined>(
    'contest',
    (key) => {
      const [, kind = '', namespace = ''] = key.split('/');
      return contests.get(`${kind}/${namespace}`).get(key);
    },
    { equals: deepEqual },
  );
  return {
    hasWorkload: (namespace, selector) => present.get(`${namespace}|${canonicalJson(selector)}`),
    selections: (kind, namespace) => selections.get(`${kind}/${namespace}`),
    contested: (key) => contest.get(key),
  };
}
