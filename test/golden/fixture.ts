import { parseDocument, stringify } from 'yaml';
import type { JsonObject, JsonValue } from '../../src/base/json.ts';
import { proxyOfNode } from '../../src/model/node.ts';
import { decodeMessage } from '../../src/proto/decode.ts';
import { CLUSTER_TYPE, ENDPOINT_TYPE, LISTENER_TYPE, messageName, ROUTE_TYPE } from '../../src/proto/type-urls.ts';
import { type FileMesh, fileMesh } from '../support/mesh-files.ts';

const TYPES = { cds: CLUSTER_TYPE, eds: ENDPOINT_TYPE, lds: LISTENER_TYPE, rds: ROUTE_TYPE } as const;

type ShortType = keyof typeof TYPES;

/** Names of resources by type; each with the path of the part that the case is about, or empty for all of it. */
type Shown = Readonly<Partial<Record<ShortType, Readonly<Record<string, readonly (string | number)[]>>>>>;

/** A client: what of it the case is about. */
interface GoldenProxy {
  /** Instead of what is shown of all. */
  readonly show?: Shown;
  /** Whether it has Istio's filters (`istio`, the default) or is an upstream Envoy with secrets (`envoy`) or without (`bare`). */
  readonly dataplane?: 'istio' | 'envoy' | 'bare';
  /** A `sidecar` unless said otherwise. */
  readonly type?: 'sidecar' | 'router';
  readonly namespace?: string;
  readonly ip?: string;
  readonly labels?: JsonObject;
  readonly metadata?: JsonObject;
  readonly locality?: { readonly region?: string; readonly zone?: string; readonly subZone?: string };
}

/** The first document of an input; mesh.yaml and objects follow. */
interface GoldenCase {
  readonly proxies: Readonly<Record<string, GoldenProxy>>;
  readonly show?: Shown;
  readonly mesh?: JsonObject;
  readonly networks?: JsonObject;
  /** Codes of the findings that the input gives. */
  readonly finds?: readonly string[];
}

/** What a client is sent, as YAML by type. */
export interface GoldenOutput {
  readonly proxy: string;
  readonly resources: Readonly<Record<string, string>>;
}

function connect({ graph, pipeline }: FileMesh, name: string, proxy: GoldenProxy): void {
  const {
    dataplane = 'istio',
    type = 'sidecar',
    namespace = 'shop',
    ip = '10.9.9.9',
    labels = {},
    metadata = {},
    locality,
  } = proxy;
  const connected = proxyOfNode({
    id: `${type}~${ip}~${name}.${namespace}~${namespace}.svc.cluster.local`,
    metadata: {
      NAMESPACE: namespace,
      INSTANCE_IPS: ip,
      LABELS: labels,
      ...(dataplane === 'envoy' ? { SDS: 'true' } : {}),
      ...metadata,
    },
    extensions: dataplane === 'istio' ? ['istio.metadata_exchange', 'istio.stats', 'istio.alpn'] : [],
    ...(locality ? { locality } : {}),
  });
  if ('refused' in connected) throw new Error(connected.refused);
  graph.batch(() => pipeline.mesh.proxies.set(name, connected));
}

/** @throws when there is no such part */
function partOf(resource: JsonObject, path: readonly (string | number)[]): JsonValue {
  return path.reduce<JsonValue>((value, step) => {
    const part = (value as Readonly<Record<string | number, JsonValue | undefined>>)[step];
    if (part === undefined) throw new Error(`there is no ${step} in ${JSON.stringify(value)}`);
    return part;
  }, resource);
}

/** @throws when the input gives other findings that warn than it says, or a client is not sent what the case is to show */
export function translateFixture(input: string): readonly GoldenOutput[] {
  const [head = '', ...rest] = input.split(/^---$/m);
  const { proxies, show, mesh, networks, finds = [] } = parseDocument(head).toJS() as GoldenCase;
  const files = {
    'shop/case.yaml': rest.join('---'),
    ...(mesh && { 'mesh.yaml': stringify(mesh) }),
    ...(networks && { 'meshNetworks.yaml': stringify({ networks }) }),
  };
  const control = fileMesh(files);
  for (const [name, proxy] of Object.entries(proxies)) connect(control, name, proxy);
  const found = control.findings().filter(({ severity }) => severity !== 'info');
  const odd = found.filter(({ code }) => !finds.includes(code)).map(({ code, message }) => `${code} ${message}`);
  if (odd.length > 0) throw new Error(odd.join('\n'));
  const missing = finds.filter((wanted) => !found.some(({ code }) => code === wanted));
  if (missing.length > 0) throw new Error(`no finding ${missing.join()}`);
  return Object.entries(proxies).map(([proxy, { show: own }]) => {
    const scope = control.pipeline.mesh.scopeOf.get(proxy);
    if (scope === undefined) throw new Error(`${proxy} is not connected`);
    const resources = Object.entries(own ?? show ?? {}).map(([type, names]) => {
      const typeUrl = TYPES[type as ShortType];
      const { graph, mesh } = control.pipeline;
      if (scope.capabilities.grpc) graph.batch(() => mesh.asked.of(typeUrl).set(scope, Object.keys(names).sort()));
      const view = control.pipeline.resources.get(typeUrl)?.get(scope);
      const shown = Object.entries(names).map(([name, path]) => {
        const bytes = view?.get(name)?.bytes;
        if (bytes === undefined)
          throw new Error(`${proxy} is sent no ${type} "${name}": ${view && [...view.entries()].map(([n]) => n)}`);
        const part = partOf(decodeMessage(messageName(typeUrl), bytes), path);
        return stringify(
          { [[name, ...path].join(' ')]: part },
          { sortMapEntries: true, lineWidth: 120, aliasDuplicateObjects: false },
        );
      });
      return [type, shown.join('')] as const;
    });
    return { proxy, resources: Object.fromEntries(resources) };
  });
}
