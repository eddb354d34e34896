import type { ApplyTo, EnvoyConfigObjectPatch, EnvoyFilter } from '#generated/config/specs.ts';
import { type Finding, type Place, placeOf } from '../../config/finding.ts';
import type { Analyzer } from './analyzer.ts';

/** Objects of which there are as many as the control plane makes: nothing is added to them, and nothing taken away. */
const NEITHER_ADDED_NOR_REMOVED: ReadonlySet<ApplyTo> = new Set(['ROUTE_CONFIGURATION', 'HTTP_ROUTE']);

const REPLACEABLE: ReadonlySet<ApplyTo> = new Set(['NETWORK_FILTER', 'HTTP_FILTER', 'VIRTUAL_HOST']);

/**
 * What a patch brings in: the filter that its value names, or else the one that it is matched by. Those of values and of
 * matches are told apart.
 */
export function patchedName({ match, patch }: EnvoyConfigObjectPatch): string {
  const name = (patch?.value as { readonly name?: unknown } | undefined)?.name;
  if (name !== undefined) return `value ${String(name)}`;
  return patch?.value === undefined ? '' : (match?.listener?.filterChain?.filter?.name ?? '');
}

/** What the patches of an object bring in to proxies of certain versions alone. */
export function versionedNames({ configPatches = [] }: EnvoyFilter): readonly string[] {
  return configPatches.filter((patch) => (patch.match?.proxy?.proxyVersion ?? '') !== '').map(patchedName);
}

/** @returns whether the patch is relative to what others make */
function* operationFindings(
  at: Place,
  { applyTo = 'INVALID', patch }: EnvoyConfigObjectPatch,
): Generator<Finding, boolean> {
  switch (patch?.operation) {
    case 'ADD':
      if (!NEITHER_ADDED_NOR_REMOVED.has(applyTo)) return false;
      yield at.error(`ADD is ignored for ${applyTo}: write MERGE, or add a VIRTUAL_HOST`, 'IST0153');
      return false;
    case 'REMOVE':
      if (!NEITHER_ADDED_NOR_REMOVED.has(applyTo)) return true;
      yield at.error(`REMOVE is ignored for ${applyTo}: write MERGE, or remove a VIRTUAL_HOST`, 'IST0154');
      return false;
    case 'REPLACE':
      if (REPLACEABLE.has(applyTo)) return true;
      yield at.error(
        `REPLACE works for ${[...REPLACEABLE].join(', ')}, and not for ${applyTo}: write MERGE`,
        'IST0152',
      );
      return false;
    case 'INSERT_BEFORE':
    case 'INSERT_AFTER':
      return true;
    default:
      return false;
  }
}

/**
 * Patches that do nothing, and such as need others before them.
 *
 * @see istio/istio pkg/config/analysis/analyzers/envoyfilter/envoyfilter.go
 */
export const ENVOY_PATCHES: Analyzer<EnvoyFilter> = {
  kinds: ['EnvoyFilter'],
  *findings({ key, spec }, facts) {
    const patches = spec.configPatches ?? [];
    const versioned = new Set<string>();
    for (const [i, patch] of patches.entries()) {
      if (patch.patch === undefined) return;
      const at = placeOf(['spec', 'configPatches', i, 'patch', 'operation']);
      const isRelative = yield* operationFindings(at, patch);
      const name = patchedName(patch);
      if (isRelative && (spec.priority ?? 0) === 0) {
        const what = `${patch.patch.operation} depends on what EnvoyFilters before this one have made, and their order goes by age and name`;
        if (versioned.has(name) || facts.isPatchedByVersion(key, name)) {
          yield at.warning(`${what}; one for certain proxyVersions brings in the same: set "priority"`, 'IST0155');
        } else yield at.warning(`${what}: set "priority"`, 'IST0151');
      }
      if ((patch.match?.proxy?.proxyVersion ?? '') !== '') versioned.add(name);
    }
  },
};
