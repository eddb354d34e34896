import type { ConfigKey } from '../config/config.ts';
import { type McpKind, RESOURCE_TYPE, resourceOfConfig } from '../config/mcp.ts';
import type { Derived, Graph } from '../derive/graph.ts';
import type { ProxyScope } from '../model/scope.ts';
import { EncodeError } from '../proto/errors.ts';
import type { EncodedResource } from '../proto/resource-set.ts';
import { sameVersion } from './encoded-resource.ts';
import type { Mesh } from './mesh.ts';
import type { ScopedResources } from './resource-types.ts';

/** Whether a node is no proxy, but a control plane or an adapter that reads configuration. */
export function readsConfiguration({ metadata }: Pick<ProxyScope, 'metadata'>): boolean {
  return metadata['GENERATOR'] === 'api';
}

/**
 * The objects of one kind that are in force, for other control planes (MCP over xDS).
 * @see istio/istio pilot/pkg/xds/apigen.go
 */
export function deriveMcpResources(graph: Graph, mesh: Mesh, kind: McpKind): ScopedResources {
  const resources: Derived<ConfigKey, EncodedResource | undefined> = graph.derived(
    'mcpResource',
    (key) => {
      const config = mesh.configs.get(key);
      if (config === undefined) return undefined;
      const { namespace, name, hash: version } = config;
      try {
        const bytes = resourceOfConfig(kind, config);
        return { name: `${namespace}/${name}`, version, bytes, typeUrl: RESOURCE_TYPE };
      } catch (error) {
        // It says what the message has no field for: other control planes would not know either.
        if (error instanceof EncodeError) return undefined;
        throw error;
      }
    },
    { equals: sameVersion },
  );
  return graph.collection<ProxyScope, string, EncodedResource>(`mcp ${kind.typeUrl}`, {
    items: (scope) => (readsConfiguration(scope) ? mesh.byKind.get(kind.kind.kind).map(nameOf) : []),
    value: (name) => resources.get(`${kind.kind.group}/${kind.kind.kind}/${name}`),
    equals: sameVersion,
  });
}

function nameOf(key: ConfigKey): string {
  return key.split('/').slice(2).join('/');
}
