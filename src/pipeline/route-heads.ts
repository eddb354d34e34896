import { deepEqual } from '../base/equal.ts';
import type { Hostname } from '../base/host.ts';
import type { ConfigKey } from '../config/config.ts';
import type { Derived, Graph } from '../derive/graph.ts';
import { type ClientCondition, clientConditions } from '../envoy/routes/client-condition.ts';
import type { Mesh } from './mesh.ts';

/** What of a VirtualService decides which virtual hosts there are, and what its routes depend on beside itself. */
export interface RouteHead {
  /** A client must meet one of them to have routes. */
  readonly conditions: readonly ClientCondition[];
  /** Of the labels that its matches ask for, sorted. */
  readonly labelNames: readonly string[];
  readonly asksNamespace: boolean;
  /** Of HTTP routes and their mirrors, sorted. */
  readonly destinations: readonly Hostname[];
}

export type RouteHeads = Derived<ConfigKey, RouteHead | undefined>;

/** A changed weight, rewrite or the like changes no head, and so touches none of the plans. */
export function deriveRouteHeads(graph: Graph, mesh: Mesh): RouteHeads {
  return graph.derived<ConfigKey, RouteHead | undefined>(
    'routeHead',
    (key) => {
      const http = mesh.virtualService.get(key)?.spec.http;
      if (http === undefined || http.length === 0) return undefined;
      const conditions = clientConditions({ http });
      const labels = conditions.flatMap(({ sourceLabels }) => Object.keys(sourceLabels ?? {}));
      const destinations = http.flatMap((rule) => [
        ...(rule.route ?? []).map(({ destination }) => destination),
        ...(rule.mirror ? [rule.mirror] : []),
        ...(rule.mirrors ?? []).map(({ destination }) => destination),
      ]);
      return {
        conditions,
        labelNames: [...new Set(labels)].sort(),
        asksNamespace: conditions.some(({ sourceNamespace }) => sourceNamespace !== undefined),
        destinations: [...new Set(destinations.map((destination) => destination?.host ?? ''))].sort(),
      };
    },
    { equals: deepEqual },
  );
}
