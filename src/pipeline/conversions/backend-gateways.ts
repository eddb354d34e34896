import type { BackendRef } from '#generated/config/specs.ts';
import { deepEqual } from '../../base/equal.ts';
import { append } from '../../base/multimap.ts';
import { compareStrings } from '../../base/order.ts';
import { type ConfigKey, configKey } from '../../config/config.ts';
import { type AttachedRoute, parentKind } from '../../convert/gateway-api/parents.ts';
import { GATEWAY_API } from '../../convert/gateway-api/references.ts';
import type { Derived, Graph } from '../../derive/graph.ts';
import { type Mesh, ONE } from '../mesh.ts';
import { ROUTE_KINDS } from './routes.ts';

interface RouteToBackends extends AttachedRoute {
  readonly rules?: readonly { readonly backendRefs?: readonly BackendRef[] }[];
}

/** What of a route says which Gateways send requests to which backends. */
interface Path {
  readonly gateways: readonly ConfigKey[];
  readonly backends: readonly ConfigKey[];
}

/**
 * By backend, the Gateways whose routes name it, sorted.
 *
 * @see istio/istio pilot/pkg/config/kube/gateway/route_collections.go `extractAncestorBackends`
 */
export function deriveBackendGateways(graph: Graph, mesh: Mesh): Derived<ConfigKey, readonly ConfigKey[]> {
  const pathOf = graph.derived<ConfigKey, Path | undefined>(
    'routeBackends',
    (key) => {
      const route = mesh.config<RouteToBackends>(key);
      if (route === undefined) return undefined;
      const { namespace: own, spec } = route;
      const parents = (spec.parentRefs ?? []).filter((ref) => parentKind(ref) === 'Gateway');
      const refs = (spec.rules ?? []).flatMap(({ backendRefs = [] }) => backendRefs);
      const backends = refs.map(({ group = '', kind = 'Service', namespace = own, name }) =>
        configKey(group, kind, namespace, name),
      );
      const gateways = parents.map(({ namespace = own, name }) => configKey(GATEWAY_API, 'Gateway', namespace, name));
      return { gateways: [...new Set(gateways)], backends: [...new Set(backends)] };
    },
    { equals: deepEqual },
  );
  const byBackend = graph.derived<typeof ONE, ReadonlyMap<ConfigKey, readonly ConfigKey[]>>('gatewaysByBackend', () => {
    const found = new Map<ConfigKey, ConfigKey[]>();
    for (const route of ROUTE_KINDS.flatMap((kind) => mesh.byKind.get(kind))) {
      const { gateways = [], backends = [] } = pathOf.get(route) ?? {};
      for (const backend of backends) for (const gateway of gateways) append(found, backend, gateway);
    }
    return found;
  });
  return graph.derived<ConfigKey, readonly ConfigKey[]>(
    'backendGateways',
    (backend) => [...new Set(byBackend.get(ONE).get(backend))].sort(compareStrings),
    { equals: deepEqual },
  );
}
