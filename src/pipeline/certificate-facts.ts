import { deepEqual } from '../base/equal.ts';
import { compareStrings } from '../base/order.ts';
import { type ConfigKey, configKey } from '../config/config.ts';
import { CERTIFICATE_FILES } from '../config/kinds/secret.ts';
import type { Graph } from '../derive/graph.ts';
import type { GatewayProxy, MeshFacts } from '../model/analysis/facts.ts';
import { type Mesh, ONE } from './mesh.ts';

const ROUTERS = 'routers';

/** What analyzers ask about certificates and those who need them. */
export function deriveCertificateFacts(
  graph: Graph,
  mesh: Mesh,
): Pick<MeshFacts, 'now' | 'gatewayProxies' | 'hasFiles'> {
  /** Routers that may lack something: an agent, or keys. */
  const lacking = mesh.proxies.index<string>('lackingRouters', ({ type, capabilities: { keys, sds } }) =>
    type === 'router' && !(keys && sds) ? [ROUTERS] : [],
  );
  const proxies = graph.derived<ConfigKey, readonly GatewayProxy[]>(
    'gatewayProxies',
    (key) => {
      const gateway = mesh.config(key);
      if (gateway === undefined) return [];
      const name = `${gateway.namespace}/${gateway.name}`;
      const found = lacking.get(ROUTERS).flatMap((id): readonly GatewayProxy[] => {
        const scope = mesh.scopeOf.get(id);
        const ports = (scope && mesh.mergedGateway.get(scope)?.ports) ?? [];
        if (scope === undefined || !ports.some(({ servers }) => servers.some((one) => one.gateway === name))) return [];
        const { keys, sds: agent } = scope.capabilities;
        return [{ id: mesh.proxies.get(id)?.id ?? id, keys, agent }];
      });
      return found.sort((a, b) => compareStrings(a.id, b.id));
    },
    { equals: deepEqual },
  );
  return {
    now: () => mesh.time.get(ONE),
    gatewayProxies: (key) => (lacking.get(ROUTERS).length === 0 ? [] : proxies.get(key)),
    hasFiles: (name) => mesh.config(configKey('', CERTIFICATE_FILES.kind, '', name)) !== undefined,
  };
}
