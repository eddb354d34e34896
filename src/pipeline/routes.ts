import type { Graph } from '../derive/graph.ts';
import type { EncodedResource } from '../proto/resource-set.ts';
import { ComposedConfiguration, type SharedHosts, sharedHosts } from './composed-configuration.ts';
import { sameVersion } from './encoded-resource.ts';
import { deriveGatewayRoutes } from './gateways/routes.ts';
import { deriveGrpcRoutes } from './grpc/routes.ts';
import type { Mesh } from './mesh.ts';
import type { Outbound } from './outbound.ts';
import type { ScopedResources } from './resource-types.ts';
import { deriveHashedHosts, deriveHashRules } from './route-hashes.ts';
import { deriveRouteHeads } from './route-heads.ts';
import { deriveRouteInputs, planKey } from './route-inputs.ts';
import type { PlanEntry } from './route-plan.ts';
import { deriveRoutePlans, entriesOf } from './route-plans.ts';
import { deriveRouteView, type RouteView } from './route-view.ts';
import type { SharedEntries } from './shared-route-plans.ts';
import { unionCollection } from './union-collection.ts';
import { deriveVirtualHosts, forAnyHost, virtualHostKey } from './virtual-hosts.ts';

/**
 * Route configurations of sidecars and gateways. Three steps, so that a change costs what it changes: plans hold the virtual hosts of a
 * port by their names, which must be unique over all of them; each virtual host is translated and encoded on its own; a
 * configuration is composed of encoded virtual hosts.
 */
export function deriveRoutes(graph: Graph, mesh: Mesh, outbound: Outbound): ScopedResources {
  const heads = deriveRouteHeads(graph, mesh);
  const hashedHosts = deriveHashedHosts(graph, mesh);
  const views = deriveRouteView(graph, mesh, heads, hashedHosts);
  const inputs = deriveRouteInputs(graph, mesh);
  const hashRules = deriveHashRules(graph, mesh, hashedHosts);
  const plans = deriveRoutePlans(graph, {
    inputs,
    heads,
    hashRules,
    persistentSessions: mesh.options.listeners.persistentSessions,
  });
  const virtualHosts = deriveVirtualHosts(graph, mesh);
  const grpc = deriveGrpcRoutes(graph, mesh, { views, inputs, plans, virtualHosts });
  const gateways = deriveGatewayRoutes(graph, mesh, { outbound, heads, hashRules, virtualHosts });

  /** Once for all namespaces, so that none of them reads every virtual host of the mesh. */
  const sharedByPlan = graph.derived<SharedEntries, SharedHosts>(
    'sharedVirtualHosts',
    (entries) => sharedHosts(entries.map((entry) => virtualHosts.get(entry.key))),
    { equals: (a, b) => a.version === b.version },
  );

  const ofView = graph.collection<RouteView, string, EncodedResource>('routeConfiguration', {
    items: (view) => inputs.sources.get(view).keys(),
    value: (name, view) => {
      const source = inputs.sources.get(view).get(name);
      if (source === undefined) return undefined;
      const { listener, port, host } = source;
      const plan = listener === undefined ? undefined : plans.item(view, planKey(listener, port));
      if (host !== undefined) {
        const keys = keysOfHost(plan === undefined ? [] : entriesOf(plan), name, host);
        return new ComposedConfiguration(name, { others: keys.map((key) => virtualHosts.get(key)) });
      }
      const others = [virtualHosts.get(virtualHostKey({ catchAll: inputs.catchAll.get(view) }))];
      if (plan === undefined) return new ComposedConfiguration(name, { others });
      const own = new Map([...plan.own].map(([place, entry]) => [place, virtualHosts.get(entry.key)]));
      return new ComposedConfiguration(name, { shared: sharedByPlan.get(plan.shared), own, others });
    },
    equals: sameVersion,
  });
  return unionCollection(
    'routes',
    (scope) => {
      if (scope.capabilities.grpc) return [grpc.get(scope)];
      if (scope.type === 'router') {
        const set = gateways.setOf.get(scope);
        return set === undefined ? [] : mesh.patched.routes.views(scope, [gateways.configurations.get(set)]);
      }
      const view = views.get(scope);
      return view === undefined ? [] : mesh.patched.routes.views(scope, [ofView.get(view)]);
    },
    sameVersion,
  );
}

/**
 * The configuration of a host with a listener of its own needs no names: all requests there are for it. Where a name of the
 * host has gone to another virtual host, that one serves it.
 * @see istio/istio pilot/pkg/networking/core/httproute.go `getVirtualHostsForSniffedServicePort`
 */
function keysOfHost(plan: readonly PlanEntry[], name: string, host: string): readonly string[] {
  const serves = ({ domains }: PlanEntry) => domains.includes(host) || domains.includes(name);
  const own = plan.find((entry) => entry.name === name);
  const serving = own !== undefined && serves(own) ? [own] : plan.filter(serves);
  const [only] = serving;
  return only !== undefined && serving.length === 1 ? [forAnyHost(only.key)] : serving.map(({ key }) => key);
}
