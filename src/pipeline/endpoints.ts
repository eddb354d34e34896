import { ObjectNumbers, WeakInterner } from '../base/weak-intern.ts';
import type { Derived, Graph } from '../derive/graph.ts';
import { type EndpointView, loadAssignment } from '../envoy/endpoints/load-assignment.ts';
import type { ProxyScope } from '../model/scope.ts';
import type { EncodedResource } from '../proto/resource-set.ts';
import { encodedResource, sameVersion } from './encoded-resource.ts';
import type { Outbound } from './outbound.ts';
import type { OutboundEntry } from './outbound-plan.ts';
import type { ScopedResources } from './resource-types.ts';

const LOAD_ASSIGNMENT = 'envoy.config.endpoint.v3.ClusterLoadAssignment';

/** A load assignment: of an entry, as a view of a proxy has it. Interned. */
interface AssignmentKey {
  readonly entry: OutboundEntry;
  readonly view: EndpointView;
}

/** Endpoints of every cluster that asks for them. A cluster that has none is told so. */
export function deriveEndpoints(graph: Graph, outbound: Outbound): ScopedResources {
  const { groups, viewOf } = outbound.endpoints;
  const keys = new WeakInterner<AssignmentKey>();
  const views = new ObjectNumbers();

  const assignments: Derived<AssignmentKey, EncodedResource> = graph.derived(
    'loadAssignment',
    ({ entry, view }) =>
      encodedResource(LOAD_ASSIGNMENT, entry.name, loadAssignment(entry.name, groups(entry, view, false) ?? [])),
    { equals: sameVersion },
  );

  const planOf = (scope: ProxyScope) => {
    const set = outbound.scopeOf.get(scope);
    return set && outbound.plan.get(set);
  };
  return graph.collection<ProxyScope, string, EncodedResource>('endpoints', {
    items: (scope) => [...(planOf(scope)?.values() ?? [])].filter((e) => e.discovery === 'EDS').map(({ name }) => name),
    value: (name, scope) => {
      const entry = planOf(scope)?.get(name);
      if (entry === undefined) return undefined;
      const view = viewOf(entry, scope);
      return assignments.get(keys.intern(`${entry.id}~${views.of(view)}`, () => ({ entry, view })));
    },
    equals: sameVersion,
  });
}
