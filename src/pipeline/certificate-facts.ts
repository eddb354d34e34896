import { deepEqual } from '../base/equal.ts';
import { compareStrings } from '../base/order.ts';
import { type ConfigKey, configKey } from '../config/config.ts';
import { CERTIFICATE_FILES, SECRET } from '../config/kinds/secret.ts';
import type { Graph } from '../derive/graph.ts';
import type { GatewayProxy, MeshFacts } from '../model/analysis/facts.ts';
import { type Mesh, ONE } from './mesh.ts';

const ROUTERS = 'routers';

/** What analyzers ask about certificates and those who need them. */
export function deriveCertificateFacts(
  graph: Graph,
  mesh: Mesh,
): Pick<MeshFacts, 'now' | 'gatewayProxies' | 'secretsNamed' | 'hasFiles'> {
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
  const secrets = graph.derived<typeof ONE, ReadonlyMap<string, readonly string[]>>('secretNames', () => {
    const named = mesh.byKind.get(SECRET.kind).flatMap((key) => mesh.config(key) ?? []);
    const byName = Map.groupBy(named, ({ name }) => name);
    return new Map(
      [...byName].map(([name, own]) => [name, own.map(({ namespace }) => namespace).sort(compareStrings)]),
    );
  });
  const secretsNamed = graph.derived<string, readonly string[]>(
    'secretsNamed',
    (name) => secrets.get(ONE).get(name) ?? [],
    { equals: deepEqual },
  );
  return {
    secretsNamed: (name) => secretsNamed.get(name),
    now: () => mesh.time.get(ONE),
    gatewayProxies: (key) => (lacking.get(ROUTERS).length === 0 ? [] : proxies.get(key)),
    hasFiles: (name) => mesh.config(configKey('', CERTIFICATE_FILES.kind, '', name)) !== undefined,
  };
}
