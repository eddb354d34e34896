import { cached } from '../base/cached.ts';
import type { Derived, Graph } from '../derive/graph.ts';
import { OF_ROUTERS } from '../model/scope.ts';
import type { OutboundEntry, OutboundPlan, OutboundPlans, PlanKind } from './outbound-plan.ts';
import type { OutboundScope } from './outbound-scope.ts';

/**
 * Where a plan is read, which sets of resources are kept by: one that is what everybody sees stays the same when a service comes,
 * so that no more than what is new is made. Every other plan is its own source. Interned.
 */
export type PlanSource = { readonly plan: OutboundPlan } | PlanKind;

export interface OutboundPlanSources {
  readonly of: Derived<OutboundScope, PlanSource>;
  /** All entries of a source by name, in the order of names. */
  readonly entries: Derived<PlanSource, ReadonlyMap<string, OutboundEntry>>;
}

export function deriveOutboundPlanSources(graph: Graph, plans: OutboundPlans): OutboundPlanSources {
  const shared = new Map<string, PlanKind>();
  const own = new WeakMap<OutboundPlan, PlanSource>();
  const ordered = new WeakMap<OutboundPlan, ReadonlyMap<string, OutboundEntry>>();

  const of = graph.derived<OutboundScope, PlanSource>('outboundPlanSource', (scope) => {
    const { sidecar, view, passesTls = false } = scope;
    const plan = plans.of.get(scope);
    if (sidecar === '' || sidecar === OF_ROUTERS) {
      const { type } = view;
      const source = cached(shared, `${type}~${passesTls}`, () => ({ type, passesTls }));
      if (plans.ofEverybody.get(source) === plan) return source;
    }
    return cached(own, plan, () => ({ plan }));
  });
  const entries = graph.derived<PlanSource, ReadonlyMap<string, OutboundEntry>>('outboundEntries', (source) => {
    const plan = 'plan' in source ? source.plan : plans.ofEverybody.get(source);
    return cached(ordered, plan, () => new Map([...plan.entries].sort(([a], [b]) => (a < b ? -1 : 1))));
  });
  return { of, entries };
}
