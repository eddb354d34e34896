import { deepEqual } from '../base/equal.ts';
import type { ConfigKey } from '../config/config.ts';
import type { Derived, Graph } from '../derive/graph.ts';
import type { Patch } from '../envoy/patch/patch.ts';
import type { MeshFacts, PatchUse } from '../model/analysis/facts.ts';
import { isForProxy, missingExtension, patchRef } from '../model/envoy-filter.ts';
import { isAttached } from '../model/policy-attachment.ts';
import type { ProxyScope } from '../model/scope.ts';
import { CLUSTER_TYPE, LISTENER_TYPE, ROUTE_TYPE } from '../proto/type-urls.ts';
import type { Mesh } from './mesh.ts';
import type { PatchOutcome } from './patched-resources.ts';
import type { ScopedResources } from './resource-types.ts';

type Outcomes = ReadonlyMap<Patch, PatchOutcome>;

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
  const proxiesOf = (namespace: string): readonly string[] =>
    namespace === mesh.rootNamespace() ? mesh.proxies.keys() : inNamespace.get(namespace);

  const uses: Derived<ConfigKey, ReadonlyMap<number, PatchUse>> = graph.derived(
    'patchUses',
    (key) => {
      const head = mesh.envoyFilters.headOf.get(key);
      const uses = new Map<number, PatchUse>();
      if (head === undefined) return uses;
      const patches = mesh.envoyFilters.patchesOf.get(key);
      for (const id of proxiesOf(head.namespace)) {
        const proxy = mesh.proxies.get(id);
        const scope = mesh.scopeOf.get(id);
        if (proxy === undefined || scope === undefined) continue;
        const seen = { ...proxy, labels: scope.labels };
        if (!isAttached(head, seen)) continue;
        const held = new Set(scope.patches);
        for (const patch of head.patches) {
          if (!isForProxy(patch, seen)) continue;
          const use = uses.get(patch.index) ?? { proxies: 0, isUsed: false };
          const missing = missingExtension(patch, seen);
          const made = patches.get(patch.index);
          const found = made === undefined || !held.has(patchRef(key, patch.index)) ? [] : outcomes.get(scope);
          const of = found.flatMap((one) => (made && one.get(made)) ?? []);
          const leftOut =
            missing === undefined ? of.find((one) => one.leftOut !== undefined)?.leftOut : `it has no ${missing}`;
          uses.set(patch.index, {
            proxies: use.proxies + 1,
            isUsed: use.isUsed || patch.applyTo === 'EXTENSION_CONFIG' || of.some(({ used }) => used),
            ...(use.leftOut && { leftOut: use.leftOut }),
            ...(use.leftOut === undefined &&
              leftOut !== undefined && { leftOut: { proxy: proxy.id, reason: leftOut } }),
          });
        }
      }
      return uses;
    },
    { equals: deepEqual },
  );
  return { patchUses: (key) => uses.get(key) };
}
