import type { envoy } from '#generated/proto/types.ts';
import { httpFilterOf } from './match.ts';
import { mergedFilter } from './merge-filter.ts';
import type { Patch } from './patch.ts';
import { placed } from './places.ts';

type HttpFilter = envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter;

/**
 * The HTTP filters of a connection manager after the patches that are for it: first all that adds, moves or removes, in
 * order, then merges.
 *
 * @see istio/istio pilot/pkg/networking/core/envoyfilter/listener_patch.go `patchHTTPFilters`
 */
export function patchedHttpFilters(
  filters: readonly HttpFilter[],
  patches: readonly Patch[],
  applied: Set<Patch>,
): readonly HttpFilter[] {
  let out = filters;
  for (const patch of patches) {
    const name = httpFilterOf(patch);
    const made = placed(out, patch, { isNamed: name !== undefined, matches: (filter) => filter.name === name });
    if (made === undefined) continue;
    applied.add(patch);
    out = made;
  }
  return out.map((filter) => {
    let merged = filter;
    for (const patch of patches) {
      const name = httpFilterOf(patch);
      if (patch.operation !== 'MERGE' || (name !== undefined && name !== merged.name)) continue;
      const made = mergedFilter(merged, patch);
      if (made === undefined) continue;
      applied.add(patch);
      merged = made;
    }
    return merged;
  });
}
