import { deepEqual, sameItems } from '../base/equal.ts';
import type { Collection, Derived, Graph } from '../derive/graph.ts';
import type { Service } from '../model/service.ts';
import type { HashClient, HashRules } from './route-hashes.ts';
import type { RouteHeads } from './route-heads.ts';
import type { PlanKey, RouteInputs } from './route-inputs.ts';
import type { PlanEntry } from './route-plan.ts';
import type { RouteView } from './route-view.ts';
import { deriveSharedRoutePlans, type PlanSubject, type SharedEntries } from './shared-route-plans.ts';

/** The virtual hosts of one port for one namespace. */
export interface RoutePlan {
  /** What namespaces share. */
  readonly shared: SharedEntries;
  /** By place: what is in the place of what is shared. */
  readonly own: ReadonlyMap<number, PlanEntry>;
}

/** The virtual hosts as the namespace has them. */
export function entriesOf({ shared, own }: RoutePlan): readonly PlanEntry[] {
  return own.size === 0 ? shared : shared.map((entry, place) => own.get(place) ?? entry);
}

function samePlan(a: RoutePlan, b: RoutePlan): boolean {
  return a.shared === b.shared && sameItems([...a.own], [...b.own], (x, y) => x[0] === y[0] && x[1].key === y[1].key);
}

/** What plans are made from. */
export interface RoutePlanSources {
  readonly inputs: RouteInputs;
  readonly heads: RouteHeads;
  readonly hashRules: Derived<HashClient, HashRules>;
  /** Whether listeners have the filter that keeps a client with one endpoint. */
  readonly persistentSessions: boolean;
}

/** Without the hashes, which change by themselves. */
type PlanInputs = Omit<PlanSubject, 'hashes'>;

/**
 * Which virtual hosts there are, under which names: what of a configuration depends on all its services at once. Only names
 * are made here; entries stay the same as long as names do.
 */
export function deriveRoutePlans(
  graph: Graph,
  { inputs, heads, hashRules, persistentSessions }: RoutePlanSources,
): Collection<RouteView, PlanKey, RoutePlan> {
  const planFor = deriveSharedRoutePlans(graph, { heads, persistentSessions });

  const planInputs = graph.collection<RouteView, PlanKey, PlanInputs>('routePlanInputs', {
    items: (view) => inputs.planKeys.get(view),
    value: (key, view) => {
      const [at = 0, listenPort = 0] = key.split('|').map(Number);
      const listener = inputs.listeners.get(view)[at];
      if (listener === undefined) return undefined;
      const services = listenPort === 0 ? listener.services : (listener.servicesOfPort.get(listenPort) ?? []);
      return { ...listener, listenPort, services };
    },
    equals: (a, b) => sameItems(a.services, b.services, sameService) && sameItems(a.virtualServices, b.virtualServices),
  });

  return graph.collection<RouteView, PlanKey, RoutePlan>('routePlan', {
    items: (view) => inputs.planKeys.get(view),
    value: (key, view) => {
      const input = planInputs.item(view, key);
      return input && planFor(view, { ...input, hashes: hashRules.get(view) });
    },
    equals: samePlan,
  });
}

/** Trimmed services are made anew whenever their scope is. */
function sameService(a: Service, b: Service): boolean {
  return a === b || (a.id === b.id && deepEqual(a, b));
}
