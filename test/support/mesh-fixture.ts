import { type Config, type ConfigKey, configKey } from '../../src/config/config.ts';
import { Graph, type Input } from '../../src/derive/graph.ts';
import { proxyOfNode } from '../../src/model/node.ts';
import type { ProxyScope } from '../../src/model/scope.ts';
import { DEFAULT_MESH_OPTIONS, type MeshOptions } from '../../src/pipeline/options.ts';
import { createPipeline, type Pipeline } from '../../src/pipeline/pipeline.ts';
import { decodeMessage } from '../../src/proto/decode.ts';
import { messageName } from '../../src/proto/type-urls.ts';

type Spec = Readonly<Record<string, unknown>>;

const GROUPS: Readonly<Record<string, string>> = {
  AuthorizationPolicy: 'security.istio.io',
  PeerAuthentication: 'security.istio.io',
  MeshConfig: '',
  MeshNetworks: '',
};
const NAMES: Readonly<Record<string, string>> = { MeshConfig: 'mesh', MeshNetworks: 'meshNetworks' };

/** A configuration object as the store holds it. */
export function object(kind: string, name: string, spec: Spec, namespace = 'default'): Config {
  const group = GROUPS[kind] ?? 'networking.istio.io';
  const meshWide = NAMES[kind];
  return {
    key: configKey(group, kind, meshWide ? '' : namespace, meshWide ?? name),
    group,
    version: 'v1',
    kind,
    namespace: meshWide ? '' : namespace,
    name: meshWide ?? name,
    labels: {},
    annotations: {},
    creationTime: 0,
    spec,
    location: { file: 'test.yaml', line: 1, column: 1 },
    document: { file: 'test.yaml', line: 1, text: '' },
    hash: JSON.stringify(spec),
    source: 'test',
  };
}

export interface Client {
  readonly namespace?: string;
  readonly type?: 'sidecar' | 'router';
  readonly ip?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly metadata?: Spec;
  readonly locality?: { readonly region?: string; readonly zone?: string; readonly subZone?: string };
  /** Istio's Envoy unless told otherwise: `envoy` has SDS, `bare` has not. */
  readonly dataplane?: 'istio' | 'envoy' | 'bare';
  /** Messages of the extensions that it lists; none: it lists nothing. */
  readonly extensionTypes?: readonly string[];
  /** Extensions that it lists, instead of those. */
  readonly extensions?: readonly string[];
  /** Private keys may go to it; default false. */
  readonly keys?: boolean;
}

/** A pipeline in memory with connected clients. */
export interface MeshFixture {
  readonly graph: Graph;
  readonly pipeline: Pipeline;
  /** Names of derivations and the keys with which they ran since the last call. */
  ran(): readonly string[];
  edit(...configs: readonly Config[]): void;
  remove(...configs: readonly Config[]): void;
  connect(name: string, client?: Client): ProxyScope;
  /** Resources of a type that a client is sent, as proto JSON. */
  resources(name: string, typeUrl: string): ReadonlyMap<string, Readonly<Record<string, unknown>>>;
}

/** @param counted derivations whose runs are told by `ran` */
export function meshFixture(
  configs: readonly Config[],
  counted: readonly string[] = [],
  options: Partial<MeshOptions> = {},
): MeshFixture {
  let ran: string[] = [];
  const names = new Set(counted);
  const graph = new Graph({ paranoid: true, onCompute: (name) => void (names.has(name) && ran.push(name)) });
  const input: Input<ConfigKey, Config> = graph.input('config');
  const set = (list: readonly Config[], present: boolean): void =>
    graph.batch(() => {
      for (const config of list) input.set(config.key, present ? config : undefined);
    });
  set(configs, true);
  const pipeline = createPipeline(graph, input, { ...DEFAULT_MESH_OPTIONS, ...options });
  const scope = (name: string): ProxyScope => {
    const found = pipeline.mesh.scopeOf.get(name);
    if (found === undefined) throw new Error(`${name} is not connected`);
    return found;
  };
  return {
    graph,
    pipeline,
    ran: () => {
      const told = ran;
      ran = [];
      return told;
    },
    edit: (...list) => set(list, true),
    remove: (...list) => set(list, false),
    connect: (name, client = {}) => {
      const { namespace = 'default', type = 'sidecar', ip = '10.9.9.9', labels = {}, dataplane = 'istio' } = client;
      const proxy = proxyOfNode({
        id: `${type}~${ip}~${name}.${namespace}~${namespace}.svc.cluster.local`,
        metadata: {
          NAMESPACE: namespace,
          CLUSTER_ID: 'Kubernetes',
          LABELS: labels,
          ...(dataplane === 'envoy' ? { SDS: 'true' } : {}),
          ...(client.metadata as Record<string, never>),
        },
        extensions: client.extensions ?? (dataplane === 'istio' ? ['istio.alpn'] : []),
        keys: client.keys ?? false,
        ...(client.locality ? { locality: client.locality } : {}),
        ...(client.extensionTypes ? { extensionTypes: client.extensionTypes } : {}),
      });
      if ('refused' in proxy) throw new Error(proxy.refused);
      graph.batch(() => pipeline.mesh.proxies.set(name, proxy));
      return scope(name);
    },
    resources: (name, typeUrl) => {
      const view = pipeline.resources.get(typeUrl)?.get(scope(name));
      const entries = [...(view?.entries() ?? [])];
      return new Map(entries.map(([key, { bytes }]) => [key, decodeMessage(messageName(typeUrl), bytes)]));
    },
  };
}
