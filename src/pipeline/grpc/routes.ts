import type { Collection, Derived, Graph } from '../../derive/graph.ts';
import { outboundName, servesHost } from '../../envoy/grpc/routes.ts';
import { sourceOf } from '../../envoy/routes/route-names.ts';
import type { ProxyScope } from '../../model/scope.ts';
import type { EncodedResource } from '../../proto/resource-set.ts';
import { ROUTE_TYPE } from '../../proto/type-urls.ts';
import { ComposedConfiguration } from '../composed-configuration.ts';
import { sameVersion } from '../encoded-resource.ts';
import type { Mesh } from '../mesh.ts';
import type { ScopedResources } from '../resource-types.ts';
import { type PlanKey, planKey, type RouteInputs } from '../route-inputs.ts';
import { entriesOf, type RoutePlan } from '../route-plans.ts';
import type { RouteView } from '../route-view.ts';
import type { EncodedPart, VirtualHostKey } from '../virtual-hosts.ts';

export interface GrpcRouteSources {
  readonly views: Derived<ProxyScope, RouteView | undefined>;
  readonly inputs: RouteInputs;
  readonly plans: Collection<RouteView, PlanKey, RoutePlan>;
  readonly virtualHosts: Derived<VirtualHostKey, EncodedPart>;
}

/**
 * The route configurations that clients without a proxy ask for, each with the virtual hosts of one host: what is called by
 * other names is not for the client. A host that is not known has a configuration without any.
 */
export function deriveGrpcRoutes(graph: Graph, mesh: Mesh, sources: GrpcRouteSources): ScopedResources {
  const { views, inputs, plans, virtualHosts } = sources;
  const asked = mesh.asked.of(ROUTE_TYPE);
  return graph.collection<ProxyScope, string, EncodedResource>('grpcRoutes', {
    items: (scope) => asked.get(scope) ?? [],
    value: (name, scope) => {
      const named = outboundName(name);
      const view = views.get(scope);
      if (named === undefined || view === undefined) return undefined;
      const { listener, port } = sourceOf(name, named.port, undefined, inputs.listeners.get(view));
      const plan = listener === undefined ? undefined : plans.item(view, planKey(listener, port));
      const called = plan === undefined ? [] : entriesOf(plan).filter(({ domains }) => servesHost(domains, named));
      return new ComposedConfiguration(name, { others: called.map(({ key }) => virtualHosts.get(key)) }, { name });
    },
    equals: sameVersion,
  });
}
