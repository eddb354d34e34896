import type { JsonObject } from '../../src/base/json.ts';
import type { Config, ConfigKey } from '../../src/config/config.ts';
import { Graph } from '../../src/derive/graph.ts';
import { proxyOfNode } from '../../src/model/node.ts';
import { DEFAULT_MESH_OPTIONS, type MeshOptions } from '../../src/pipeline/options.ts';
import { createPipeline, type Pipeline } from '../../src/pipeline/pipeline.ts';
import { decodeMessage } from '../../src/proto/decode.ts';
import type { Dataplane } from './ask.ts';
import type { CaseProxy } from './case-files.ts';
import type { ConformanceCase } from './load-case.ts';

export function pipelineOf({ configs, env }: ConformanceCase, graph: Graph = new Graph()): Pipeline {
  const input = graph.input<ConfigKey, Config>('config');
  graph.batch(() => {
    for (const [key, config] of configs) input.set(key, config);
  });
  const options: MeshOptions = {
    ...DEFAULT_MESH_OPTIONS,
    dualStack: env['ISTIO_DUAL_STACK'] === 'true',
    // No allocator wrote addresses when the answers were taken.
    addressAllocation: env['PILOT_ENABLE_IP_AUTOALLOCATE'] === 'false' ? 'table-only' : 'status-only',
  };
  return createPipeline(graph, input, options);
}

export function connect(pipeline: Pipeline, client: CaseProxy, dataplane: Dataplane = 'istio'): string {
  const metadata: JsonObject = {
    ...client.metadata,
    INSTANCE_IPS: client.ips.join(),
    ...(dataplane === 'envoy' ? { SDS: 'true' } : {}),
  };
  const proxy = proxyOfNode({
    id: `${client.type}~${client.ips[0]}~${client.id}~${client.dnsDomain}`,
    metadata,
    ...(client.locality ? { locality: client.locality } : {}),
    extensions: dataplane === 'istio' ? ['istio.metadata_exchange', 'istio.stats', 'istio.alpn'] : [],
    keys: true,
  });
  if ('refused' in proxy) throw new Error(proxy.refused);
  pipeline.graph.batch(() => pipeline.mesh.proxies.set(client.name, proxy));
  return client.name;
}

/** The resources of one type that a client is sent, as proto JSON by name. */
export function resourcesOf(pipeline: Pipeline, client: string, typeUrl: string): ReadonlyMap<string, JsonObject> {
  const scope = pipeline.mesh.scopeOf.get(client);
  const set = pipeline.resources.get(typeUrl);
  const out = new Map<string, JsonObject>();
  if (scope === undefined || set === undefined) return out;
  const fullName = typeUrl.slice(typeUrl.indexOf('/') + 1);
  for (const [name, { bytes }] of set.get(scope).entries()) {
    out.set(name, { '@type': typeUrl, ...decodeMessage(fullName, bytes) });
  }
  return out;
}
