import type { LabelSelector, MeshConfig, MeshNetworks } from '#generated/config/specs.ts';
import { deepEqual } from '../base/equal.ts';
import type { Labels } from '../base/labels.ts';
import { type Config, type ConfigKey, configKey, kindName } from '../config/config.ts';
import { matchesSelector } from '../config/label-selector.ts';
import { effectiveMesh } from '../config/mesh.ts';
import { MESH_KEY, NETWORKS_KEY } from '../config/mesh-files.ts';
import type { Derived, Graph, Index, Input } from '../derive/graph.ts';
import type { MeshOptions } from './options.ts';

/**
 * Configuration objects as derivations read them: those in namespaces that the mesh looks at. Kinds are called as `kindName`
 * does.
 */
export interface Configuration extends Objects {
  readonly configs: Input<ConfigKey, Config>;
  /** Objects that stand in files. */
  readonly byKind: Index<string, ConfigKey>;
  /** Keyed by `Kind/namespace`. */
  readonly byKindNamespace: Index<string, ConfigKey>;
  facet<K extends keyof MeshConfig>(name: K): MeshConfig[K];
  readonly networks: Derived<'', MeshNetworks>;
  readonly namespaceLabels: Derived<string, Labels>;
  readonly namespaceAnnotations: Derived<string, Labels>;
  rootNamespace(): string;
  trustDomain(): string;
}

/** Objects in force: those of files, and those that are made of others. */
export interface Objects {
  /** Keys of a kind, of one namespace or of all. */
  keysOf(kind: string, namespace?: string): readonly ConfigKey[];
  /** The object, unless its namespace is not discovered. */
  config<Spec>(key: ConfigKey): Config<Spec> | undefined;
  ofKind<Spec>(kind: string): readonly Config<Spec>[];
  ofKindIn<Spec>(kind: string, namespace: string): readonly Config<Spec>[];
}

export function objects({ keysOf, config }: Pick<Objects, 'keysOf' | 'config'>): Objects {
  const present = <Spec>(keys: readonly ConfigKey[]) => keys.flatMap((key) => config<Spec>(key) ?? []);
  return {
    keysOf,
    config,
    ofKind: (kind) => present(keysOf(kind)),
    ofKindIn: (kind, namespace) => present(keysOf(kind, namespace)),
  };
}

const EMPTY: Labels = {};

export function deriveConfiguration(
  graph: Graph,
  configs: Input<ConfigKey, Config>,
  { rootNamespace }: MeshOptions,
): Configuration {
  const byKind = configs.index<string>('kind', (c) => [kindName(c)]);
  const byKindNamespace = configs.index<string>('kindNamespace', (c) => [`${kindName(c)}/${c.namespace}`]);
  const effective = graph.derived<'', MeshConfig>('mesh', () =>
    effectiveMesh(configs.get(MESH_KEY) as Config<MeshConfig> | undefined, rootNamespace),
  );
  const facets = graph.derived<keyof MeshConfig, unknown>('meshFacet', (name) => effective.get('')[name], {
    equals: deepEqual,
  });
  const networks = graph.derived<'', MeshNetworks>(
    'meshNetworks',
    () => (configs.get(NETWORKS_KEY) as Config<MeshNetworks> | undefined)?.spec ?? {},
  );
  const namespaceObject = (name: string) => configs.get(configKey('', 'Namespace', '', name));
  const namespaceLabels = graph.derived<string, Labels>('namespaceLabels', (n) => namespaceObject(n)?.labels ?? EMPTY, {
    equals: deepEqual,
  });
  const namespaceAnnotations = graph.derived<string, Labels>(
    'namespaceAnnotations',
    (n) => namespaceObject(n)?.annotations ?? EMPTY,
    { equals: deepEqual },
  );
  const facet = <K extends keyof MeshConfig>(name: K) => facets.get(name) as MeshConfig[K];
  /** @see istio/istio pkg/kube/namespace/filter.go: any selector that matches takes the namespace in */
  const discovered = graph.derived<string, boolean>('namespaceDiscovered', (namespace) => {
    const selectors = (facet('discoverySelectors') ?? []) as readonly LabelSelector[];
    if (selectors.length === 0 || namespace === '' || namespace === facet('rootNamespace')) return true;
    const labels = { 'kubernetes.io/metadata.name': namespace, ...namespaceLabels.get(namespace) };
    return selectors.some((selector) => matchesSelector(selector, labels));
  });
  const config = <Spec>(key: ConfigKey) => {
    const found = configs.get(key) as Config<Spec> | undefined;
    return found !== undefined && discovered.get(found.namespace) ? found : undefined;
  };
  const keysOf = (kind: string, namespace?: string) =>
    namespace === undefined ? byKind.get(kind) : byKindNamespace.get(`${kind}/${namespace}`);
  return {
    ...objects({ keysOf, config }),
    configs,
    byKind,
    byKindNamespace,
    facet,
    networks,
    namespaceLabels,
    namespaceAnnotations,
    rootNamespace: () => facet('rootNamespace') ?? rootNamespace,
    trustDomain: () => facet('trustDomain') ?? 'cluster.local',
  };
}
