import { contentVersion } from '../base/hash.ts';
import type { Graph } from '../derive/graph.ts';
import { outboundRouteConfiguration } from '../envoy/routes/configuration.ts';
import { encodeMessage } from '../proto/message.ts';
import type { EncodedResource } from '../proto/resource-set.ts';
import { sameVersion } from './encoded-resource.ts';
import type { Mesh } from './mesh.ts';
import type { ScopedResources } from './resource-types.ts';
import { deriveHashedHosts, deriveHashRules } from './route-hashes.ts';
import { deriveRouteHeads } from './route-heads.ts';
import { deriveRouteInputs, planKey } from './route-inputs.ts';
import { deriveRoutePlans, type PlanEntry } from './route-plans.ts';
import { deriveRouteView, type RouteView } from './route-view.ts';
import { unionCollection } from './union-collection.ts';
import { deriveVirtualHosts, type EncodedPart, forAnyHost, virtualHostKey } from './virtual-hosts.ts';

const CONFIGURATION = 'envoy.config.route.v3.RouteConfiguration';

/**
 * Route configurations of sidecars. Three steps, so that a change costs what it changes: plans hold the virtual hosts of a
 * port by their names, which must be unique over all of them; each virtual host is translated and encoded on its own; a
 * configuration is composed of encoded virtual hosts.
 */
export function deriveRoutes(graph: Graph, mesh: Mesh): ScopedResources {
  const heads = deriveRouteHeads(graph, mesh);
  const hashedHosts = deriveHashedHosts(graph, mesh);
  const views = deriveRouteView(graph, mesh, heads, hashedHosts);
  const inputs = deriveRouteInputs(graph, mesh);
  const plans = deriveRoutePlans(graph, {
    inputs,
    heads,
    hashRules: deriveHashRules(graph, mesh, hashedHosts),
    persistentSessions: mesh.options.listeners.persistentSessions,
  });
  const virtualHosts = deriveVirtualHosts(graph, mesh);

  const ofView = graph.collection<RouteView, string, EncodedResource>('routeConfiguration', {
    items: (view) => inputs.sources.get(view).keys(),
    value: (name, view) => {
      const source = inputs.sources.get(view).get(name);
      if (source === undefined) return undefined;
      const { listener, port, host } = source;
      const plan = listener === undefined ? [] : (plans.item(view, planKey(listener, port)) ?? []);
      const keys =
        host === undefined
          ? [...plan.map(({ key }) => key), virtualHostKey({ catchAll: inputs.catchAll.get(view) })]
          : keysOfHost(plan, name, host);
      return new ComposedConfiguration(
        name,
        keys.map((key) => virtualHosts.get(key)),
      );
    },
    equals: sameVersion,
  });
  return unionCollection(
    'routes',
    (scope) => {
      const view = views.get(scope);
      return view === undefined ? [] : [ofView.get(view)];
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

/** Its bytes are put together when they are sent: what is kept are the virtual hosts, which other configurations share. */
class ComposedConfiguration implements EncodedResource {
  readonly name: string;
  readonly version: string;
  /** Fields of a message may be concatenated: all others first, then the virtual hosts. */
  readonly parts: readonly Uint8Array[];

  constructor(name: string, virtualHosts: readonly EncodedPart[]) {
    this.name = name;
    this.version = contentVersion([name, ...virtualHosts.map(({ version }) => version)].join());
    const others = encodeMessage(CONFIGURATION, outboundRouteConfiguration(name, []));
    this.parts = [others, ...virtualHosts.map(({ field }) => field)];
  }

  get bytes(): Uint8Array {
    return Buffer.concat(this.parts);
  }
}
