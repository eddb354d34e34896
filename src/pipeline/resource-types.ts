import { MCP_KINDS, mcpTypeUrl } from '../config/mcp.ts';
import type { Collection, Graph } from '../derive/graph.ts';
import type { ProxyScope } from '../model/scope.ts';
import type { EncodedResource } from '../proto/resource-set.ts';
import {
  CLUSTER_TYPE,
  ENDPOINT_TYPE,
  EXTENSION_CONFIG_TYPE,
  LISTENER_TYPE,
  NAME_TABLE_TYPE,
  PROXY_CONFIG_TYPE,
  ROUTE_TYPE,
  SECRET_TYPE,
} from '../proto/type-urls.ts';
import { deriveClusters } from './clusters.ts';
import { deriveEndpoints } from './endpoints.ts';
import { deriveExtensionConfigs } from './extension-configs.ts';
import { deriveListeners } from './listeners.ts';
import { deriveMcpResources } from './mcp-resources.ts';
import type { Mesh } from './mesh.ts';
import { deriveNameTables } from './name-table.ts';
import type { Outbound } from './outbound.ts';
import { deriveRoutes } from './routes.ts';
import { deriveSecrets } from './secrets/secrets.ts';
import { deriveTrustBundle } from './trust-bundle.ts';

/** The resources of one type: the set of each scope, by name. */
export type ScopedResources = Collection<ProxyScope, string, EncodedResource>;

export interface ResourceType {
  readonly typeUrl: string;
  derive(graph: Graph, mesh: Mesh, outbound: Outbound): ScopedResources;
}

/** Every type that is served. A new one is one derivation and one line. */
export const RESOURCE_TYPES: readonly ResourceType[] = [
  { typeUrl: CLUSTER_TYPE, derive: deriveClusters },
  { typeUrl: ENDPOINT_TYPE, derive: deriveEndpoints },
  { typeUrl: LISTENER_TYPE, derive: deriveListeners },
  { typeUrl: ROUTE_TYPE, derive: deriveRoutes },
  { typeUrl: EXTENSION_CONFIG_TYPE, derive: deriveExtensionConfigs },
  { typeUrl: NAME_TABLE_TYPE, derive: deriveNameTables },
  { typeUrl: SECRET_TYPE, derive: deriveSecrets },
  { typeUrl: PROXY_CONFIG_TYPE, derive: deriveTrustBundle },
  // All versions of a kind are one: an older reader asks for an older one.
  ...MCP_KINDS.flatMap((mcp) =>
    mcp.kind.versions.map((version) => ({
      typeUrl: mcpTypeUrl(mcp.kind, version),
      derive: (graph: Graph, mesh: Mesh) => deriveMcpResources(graph, mesh, mcp),
    })),
  ),
];
