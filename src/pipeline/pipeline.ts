import type { Config, ConfigKey } from '../config/config.ts';
import type { Graph, Input } from '../derive/graph.ts';
import { type Analysis, deriveAnalysis } from './analysis.ts';
import { deriveStatuses, type Statuses } from './conversions/status.ts';
import { createMesh } from './create-mesh.ts';
import type { Mesh } from './mesh.ts';
import type { MeshOptions } from './options.ts';
import { deriveOutbound } from './outbound.ts';
import { RESOURCE_TYPES, type ScopedResources } from './resource-types.ts';

/** All derivations from configuration to resources. It computes nothing by itself: what is watched or read is. */
export interface Pipeline {
  readonly graph: Graph;
  readonly mesh: Mesh;
  /** By type URL. */
  readonly resources: ReadonlyMap<string, ScopedResources>;
  readonly analysis: Analysis;
  readonly statuses: Statuses;
}

export function createPipeline(graph: Graph, configs: Input<ConfigKey, Config>, options: MeshOptions): Pipeline {
  const mesh = createMesh(graph, configs, options);
  const outbound = deriveOutbound(graph, mesh);
  const resources = new Map(RESOURCE_TYPES.map(({ typeUrl, derive }) => [typeUrl, derive(graph, mesh, outbound)]));
  const analysis = deriveAnalysis(graph, mesh, resources);
  return { graph, mesh, resources, analysis, statuses: deriveStatuses(graph, mesh) };
}
