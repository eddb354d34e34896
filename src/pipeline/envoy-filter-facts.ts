import { cached } from '../base/cached.ts';
import { deepEqual, sameItems } from '../base/equal.ts';
import { compareStrings } from '../base/order.ts';
import type { ConfigKey } from '../config/config.ts';
import type { CollectionView, Derived, Graph } from '../derive/graph.ts';
import type { Patch } from '../envoy/patch/patch.ts';
import type { MeshFacts, PatchUse } from '../model/analysis/facts.ts';
import { isForProxy, missingExtension, patchRef } from '../model/envoy-filter.ts';
import { isAttached } from '../model/policy-attachment.ts';
import type { ProxyScope } from '../model/scope.ts';
import { CLUSTER_TYPE, LISTENER_TYPE, ROUTE_TYPE } from '../proto/type-urls.ts';
import type { Mesh } from './mesh.ts';
import type { PatchOutcome } from './patched-resources.ts';
import type { ScopedResources } from './resource-types.ts';
import { ScopeMembers } from './scope-members.ts';

type Outcomes = ReadonlyMap<Patch, PatchOutcome>;

/** For all namespaces. */
const EVERYWHERE = '*';

/** What analyzers ask about EnvoyFilters: what became of their patches at the proxies that are connected. */
export function deriveEnvoyFilterFacts(
  graph: Graph,
  mesh: Mesh,
  resources: ReadonlyMap<string, ScopedResources>,
): Pick<MeshFacts, 'patchUses'> {
  const inNamespace = mesh.proxies.index<string>('namespace', ({ namespace }) => [namespace]);
  const patched = [
    [CLUSTER_TYPE, mesh.patched.clusters],
    [LISTENER_TYPE, mesh.patched.listeners],
    [ROUTE_TYPE, mesh.patched.routes],
  ] as const;

  /** Key: a namespace, or `*`. */
  const scopes = graph.collection<string, string, ProxyScope>('scopesOfProxies', {
    items: (namespace) => (namespace === EVERYWHERE ? mesh.proxies.keys() : inNamespace.get(namespace)),
    value: (id) => mesh.scopeOf.get(id),
  });
  const members = new WeakMap<CollectionView<string, ProxyScope>, ScopeMembers>();
  /** Key: a namespace, or `*`. Each scope with one of its proxies: the same for most proxies that come and go. */
  const firsts: Derived<string, readonly (readonly [ProxyScope, string])[]> = graph.derived(
    'scopeFirsts',
    (namespace) => {
      const view = scopes.get(namespace);
      const found = cached(members, view, () => new ScopeMembers(view)).firsts();
      return [...found].sort(([, a], [, b]) => compareStrings(a, b));
    },
    { equals: (a, b) => sameItems(a, b, ([scope, id], [other, otherId]) => scope === other && id === otherId) },
  );
  const outcomes: Derived<ProxyScope, readonly Outcomes[]> = graph.derived(
    'patchOutcomes',
    (scope) =>
      patched.map(([typeUrl, one]) => {
        // What is said next is about the views that this has.
        void resources.get(typeUrl)?.get(scope).revision;
        return one.outcomes(scope);
      }),
    { equals: deepEqual },
  );

  const uses: Derived<ConfigKey, ReadonlyMap<number, PatchUse>> = graph.derived(
    'patchUses',
    (key) => {
      const head = mesh.envoyFilters.headOf.get(key);
      const found = new Map<number, PatchUse>();
      if (head === undefined) return found;
      const patches = mesh.envoyFilters.patchesOf.get(key);
      const isRoot = head.namespace === mesh.rootNamespace();
      for (const [scope, id] of firsts.get(isRoot ? EVERYWHERE : head.namespace)) {
        // Proxies of a scope have the same patches: what holds for one holds for all.
        const proxy = mesh.proxies.get(id);
        const seen = proxy && { ...proxy, labels: scope.labels };
        if (seen === undefined || !isAttached(head, seen)) continue;
        for (const patch of head.patches) {
          if (!isForProxy(patch, seen)) continue;
          const made = patches.get(patch.index);
          const isHeld = made !== undefined && scope.patches.includes(patchRef(key, patch.index));
          const here = isHeld ? outcomes.get(scope).flatMap((one) => one.get(made) ?? []) : [];
          const missing = missingExtension(patch, seen);
          const reason = missing === undefined ? here.find(({ leftOut }) => leftOut)?.leftOut : `it has no ${missing}`;
          const { isUsed = false, leftOut } = found.get(patch.index) ?? {};
          const told = leftOut ?? (reason === undefined ? undefined : { proxy: seen.id, reason });
          found.set(patch.index, {
            isUsed: isUsed || patch.applyTo === 'EXTENSION_CONFIG' || here.some(({ used }) => used),
            ...(told && { leftOut: told }),
          });
        }
      }
      return found;
    },
    { equals: deepEqual },
  );
  return { patchUses: (key) => uses.get(key) };
}
