import { ObjectNumbers, WeakInterner } from '../base/weak-intern.ts';
import type { Derived, Graph } from '../derive/graph.ts';
import { type EndpointView, loadAssignment } from '../envoy/endpoints/load-assignment.ts';
import { grpcEndpoints } from '../envoy/grpc/endpoints.ts';
import type { ProxyScope } from '../model/scope.ts';
import type { EncodedResource } from '../proto/resource-set.ts';
import { ENDPOINT_TYPE } from '../proto/type-urls.ts';
import { encodedResource, sameVersion } from './encoded-resource.ts';
import { type EndpointScope, isDns } from './endpoint-groups.ts';
import { entryNamed } from './grpc/clusters.ts';
import type { Mesh } from './mesh.ts';
import type { Outbound } from './outbound.ts';
import type { OutboundEntry } from './outbound-plan.ts';
import type { PlanSource } from './outbound-plan-source.ts';
import type { ScopedResources } from './resource-types.ts';
import { unionCollection } from './union-collection.ts';

const LOAD_ASSIGNMENT = 'envoy.config.endpoint.v3.ClusterLoadAssignment';

/** A load assignment: of an entry, as a view of a proxy has it. Interned. */
interface AssignmentKey {
  readonly entry: OutboundEntry;
  readonly view: EndpointView;
}

/** All load assignments of a plan's source, as proxies of an endpoint scope have them. Interned. */
interface AssignmentsKey {
  readonly source: PlanSource;
  readonly scope: EndpointScope;
}

/** Endpoints of every cluster that asks for them. A cluster that has none is told so. */
export function deriveEndpoints(graph: Graph, mesh: Mesh, outbound: Outbound): ScopedResources {
  const { endpoints, entryNumbers, sources } = outbound;
  const keys = new WeakInterner<AssignmentKey>();
  const sets = new WeakInterner<AssignmentsKey>();
  const numbers = new ObjectNumbers();

  const assignment: Derived<AssignmentKey, EncodedResource> = graph.derived(
    'loadAssignment',
    ({ entry, view }) => {
      const groups = endpoints.groups(entry, view) ?? [];
      return encodedResource(LOAD_ASSIGNMENT, entry.name, loadAssignment(entry.name, groups));
    },
    { equals: sameVersion },
  );
  const keyOf = (entry: OutboundEntry, view: EndpointView): AssignmentKey =>
    keys.intern(`${entryNumbers.of(entry)}~${numbers.of(view)}`, () => ({ entry, view }));
  const asked = mesh.asked.of(ENDPOINT_TYPE);
  const grpcAssignment: Derived<AssignmentKey, EncodedResource> = graph.derived(
    'grpcLoadAssignment',
    (key) => {
      const groups = endpoints.groups(key.entry, key.view) ?? [];
      const taken = grpcEndpoints(groups);
      if (taken === groups) return assignment.get(key);
      return encodedResource(LOAD_ASSIGNMENT, key.entry.name, loadAssignment(key.entry.name, taken));
    },
    { equals: sameVersion },
  );
  /** gRPC without a proxy asks by name; what it would have to resolve itself has no endpoints for it. */
  const ofGrpc = graph.collection<ProxyScope, string, EncodedResource>('grpcLoadAssignments', {
    items: (scope) => asked.get(scope) ?? [],
    value: (name, scope) => {
      const entry = entryNamed(outbound, scope, name);
      if (entry === undefined) return undefined;
      return isDns(entry)
        ? encodedResource(LOAD_ASSIGNMENT, name, loadAssignment(name, []))
        : grpcAssignment.get(keyOf(entry, endpoints.viewFor(entry, scope)));
    },
    equals: sameVersion,
  });
  const assignments = graph.collectionOfParts<AssignmentsKey, string, OutboundEntry, EncodedResource>(
    'loadAssignments',
    {
      parts: ({ source }) =>
        new Map([...sources.entries.get(source)].filter(([, { discovery }]) => discovery === 'EDS')),
      value: (_name, entry, { scope }) => assignment.get(keyOf(entry, endpoints.viewOf(entry, scope))),
      equals: sameVersion,
    },
  );
  const setOf = graph.derived<ProxyScope, AssignmentsKey | undefined>('assignmentsOf', (proxy) => {
    const set = outbound.scopeOf.get(proxy);
    if (set === undefined) return undefined;
    const source = sources.of.get(set);
    const scope = endpoints.scopeOf(source, 'eds', proxy);
    return sets.intern(`${numbers.of(source)}~${numbers.of(scope)}`, () => ({ source, scope }));
  });
  return unionCollection(
    'endpoints',
    (proxy) => {
      if (proxy.capabilities.grpc) return [ofGrpc.get(proxy)];
      const set = setOf.get(proxy);
      return set === undefined ? [] : [assignments.get(set)];
    },
    sameVersion,
  );
}
