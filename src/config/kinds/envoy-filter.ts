import type { ApplyTo, EnvoyConfigObjectMatch, EnvoyConfigObjectPatch, EnvoyFilter } from '#generated/config/specs.ts';
import type { Finding, Place } from '../finding.ts';
import { defineKind, type KindDefinition } from '../kind.ts';
import { EnvoyFilter as schema } from '../schema/envoy-filter.ts';
import { valueFindings } from './envoy-filter-value.ts';
import { syntaxProblem } from './regex.ts';
import { targetedFindings, workloadSelectorFindings } from './selectors.ts';

/** Longest expression for a proxy's version that is looked at. */
const MAX_VERSION_LENGTH = 1024;

const CONNECTION_MANAGERS: ReadonlySet<string> = new Set([
  'envoy.filters.network.http_connection_manager',
  'envoy.http_connection_manager',
]);

/** Names of filters as Envoy had them once, before `envoy.filters.`. */
const OLD_NAME = /^envoy\.(?:listener\.)?[a-z0-9_]+$/;

/** What a patch of some object can be matched by. */
const MATCHED_BY: Readonly<Partial<Record<ApplyTo, 'listener' | 'routeConfiguration' | 'cluster'>>> = {
  LISTENER: 'listener',
  FILTER_CHAIN: 'listener',
  NETWORK_FILTER: 'listener',
  HTTP_FILTER: 'listener',
  ROUTE_CONFIGURATION: 'routeConfiguration',
  VIRTUAL_HOST: 'routeConfiguration',
  HTTP_ROUTE: 'routeConfiguration',
  CLUSTER: 'cluster',
};

function* filterMatchFindings(at: Place, match: EnvoyConfigObjectMatch, applyTo: ApplyTo): Generator<Finding> {
  const filter = match.listener?.filterChain?.filter;
  if (filter === undefined) return;
  const { name = '', subFilter } = filter;
  const place = at.at('listener', 'filterChain', 'filter');
  if (applyTo === 'LISTENER' || applyTo === 'FILTER_CHAIN') {
    yield place.warning(`has no effect on a patch of ${applyTo}: remove it`);
  }
  if (name === '') {
    yield place.error('needs a name to match');
    return;
  }
  if (OLD_NAME.test(name))
    yield place.at('name').warning(`"${name}" is an old name: Envoy's begin with "envoy.filters."`);
  if (subFilter === undefined) return;
  const sub = place.at('subFilter');
  if (applyTo !== 'HTTP_FILTER') yield sub.error('works with applyTo HTTP_FILTER alone');
  else if (!CONNECTION_MANAGERS.has(name)) {
    yield place.at('name').error('HTTP filters are in "envoy.filters.network.http_connection_manager": write that');
  } else if ((subFilter.name ?? '') === '') yield sub.error('needs a name to match');
}

function* matchFindings(at: Place, match: EnvoyConfigObjectMatch, applyTo: ApplyTo): Generator<Finding> {
  const version = match.proxy?.proxyVersion ?? '';
  const versionPlace = at.at('proxy', 'proxyVersion');
  if (version.length > MAX_VERSION_LENGTH) {
    yield versionPlace.warning(`is longer than ${MAX_VERSION_LENGTH} characters: it matches no proxy`);
  } else if (version !== '') {
    const wrong = syntaxProblem(version);
    if (wrong !== undefined) yield versionPlace.error(wrong);
  }
  const allowed = MATCHED_BY[applyTo];
  const written = (['listener', 'routeConfiguration', 'cluster'] as const).find((name) => match[name] !== undefined);
  if (allowed !== undefined && written !== undefined && written !== allowed) {
    yield at.at(written).error(`a patch of ${applyTo} is matched by "${allowed}"`);
  }
  if (allowed === 'listener') yield* filterMatchFindings(at, match, applyTo);
}

/** @see istio/istio pkg/config/validation/envoyfilter/envoyfilter.go */
function* patchFindings(at: Place, whole: EnvoyConfigObjectPatch): Generator<Finding> {
  const { applyTo = 'INVALID', match, patch } = whole;
  const isWaypoint = match?.context === 'WAYPOINT';
  if (isWaypoint !== (match?.waypoint !== undefined)) {
    yield at.at('match').error('"waypoint" and the context WAYPOINT belong together: write both, or none');
  }
  if (isWaypoint) return;
  if (applyTo === 'INVALID') yield at.error('needs "applyTo", which says what is patched');
  if (applyTo === 'BOOTSTRAP') {
    yield at.at('applyTo').info('BOOTSTRAP changes what a proxy is started with, which is not sent to it', 'VM0002');
  }
  const { operation = 'INVALID', value } = patch ?? {};
  if (operation === 'INVALID') yield at.at('patch').error('needs "operation", as MERGE or INSERT_BEFORE');
  else if (operation !== 'REMOVE' && value === undefined) yield at.at('patch').error(`${operation} needs a "value"`);
  if (match !== undefined) yield* matchFindings(at.at('match'), match, applyTo);
  yield* valueFindings(at, whole);
}

export const ENVOY_FILTER: KindDefinition<EnvoyFilter> = defineKind({
  group: 'networking.istio.io',
  versions: ['v1alpha3'],
  kind: 'EnvoyFilter',
  plural: 'envoyfilters',
  scope: 'Namespaced',
  specField: 'spec',
  schema,
  *validate({ spec, at }) {
    yield at().warning("changes what proxies get behind the control plane's back: look at it with each upgrade");
    yield* workloadSelectorFindings(at('workloadSelector'), spec.workloadSelector);
    yield* targetedFindings(at(), spec.targetRefs === undefined ? {} : { targetRefs: spec.targetRefs });
    if (spec.workloadSelector !== undefined && spec.targetRefs !== undefined) {
      yield at('targetRefs').error('only one of workloadSelector and targetRefs may be set');
    }
    for (const [i, patch] of (spec.configPatches ?? []).entries()) yield* patchFindings(at('configPatches', i), patch);
  },
});
