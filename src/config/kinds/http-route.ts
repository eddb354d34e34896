import type { HTTPRoute, HTTPRouteDestination, RouteDestination } from '#generated/config/specs.ts';
import type { Finding, Place } from '../finding.ts';
import { destinationFindings } from './destination.ts';
import { headersFindings, isAuthority } from './headers.ts';
import { bodyFindings, corsFindings, faultFindings, redirectFindings, rewriteFindings } from './http-actions.ts';
import { httpMatchFindings } from './http-match.ts';
import { retryFindings } from './retry.ts';

/** Destinations of a rule with their weights. */
export function* destinationsFindings(
  at: Place,
  destinations: readonly (RouteDestination | HTTPRouteDestination)[],
): Generator<Finding> {
  for (const [i, { destination }] of destinations.entries()) {
    yield* destinationFindings(at.at(i, 'destination'), destination);
  }
  const total = destinations.reduce((sum, { weight = 0 }) => sum + weight, 0);
  if (destinations.length > 1 && total === 0) {
    yield at.error('the weights of several destinations must not all be 0: give each its share');
  }
}

/** What a rule may do together. `fault` and `rewrite` are for requests that go on. */
function* actionFindings(at: Place, route: HTTPRoute, inDelegate: boolean): Generator<Finding> {
  const { redirect, directResponse, route: destinations } = route;
  if (!inDelegate && route.delegate !== undefined) {
    for (const name of ['redirect', 'route'] as const) {
      if (route[name] !== undefined) yield at.at(name).error('the delegate decides this: remove it, or "delegate"');
    }
    return;
  }
  if (inDelegate && route.delegate !== undefined) {
    yield at.at('delegate').error('an object without hosts is a delegate itself and can not delegate: remove it');
  }
  const answer = redirect === undefined ? 'directResponse' : 'redirect';
  if (redirect === undefined && directResponse === undefined) {
    if (destinations === undefined) {
      yield at.error('the rule says not where requests go: set route, redirect, directResponse or delegate');
    }
  } else {
    for (const name of ['route', 'fault', 'rewrite'] as const) {
      if (route[name] !== undefined) yield at.at(name).error(`can not stand beside ${answer}: remove one of them`);
    }
    if (redirect !== undefined && directResponse !== undefined) {
      yield at.at('directResponse').error('can not stand beside redirect: remove one of them');
    }
  }
  if (route.mirror !== undefined && route.mirrors !== undefined) {
    yield at.at('mirror').error('only one of mirror and mirrors may be set');
  }
}

/** The host can be changed at one place only. */
function* authorityFindings(at: Place, { rewrite, headers }: HTTPRoute): Generator<Finding> {
  let set = (rewrite?.authority ?? '') !== '';
  for (const verb of ['set', 'add'] as const) {
    for (const name of Object.keys(headers?.request?.[verb] ?? {})) {
      if (!isAuthority(name)) continue;
      if (set)
        yield at.at('headers', 'request', verb, name).error('the host is changed elsewhere, too: keep one of them');
      set = true;
    }
  }
}

/**
 * @param inDelegate whether the object has no hosts, so that others delegate to it
 * @see istio/istio pkg/config/validation/virtualservice.go `validateHTTPRoute`
 */
export function* httpRouteFindings(at: Place, route: HTTPRoute, inDelegate: boolean): Generator<Finding> {
  yield* actionFindings(at, route, inDelegate);
  for (const [i, match] of (route.match ?? []).entries()) yield* httpMatchFindings(at.at('match', i), match);
  yield* headersFindings(at.at('headers'), route.headers);
  yield* corsFindings(at.at('corsPolicy'), route.corsPolicy);
  yield* faultFindings(at.at('fault'), route.fault);
  yield* destinationFindings(at.at('mirror'), route.mirror);
  for (const [i, { destination }] of (route.mirrors ?? []).entries()) {
    yield* destinationFindings(at.at('mirrors', i, 'destination'), destination);
  }
  yield* redirectFindings(at.at('redirect'), route.redirect, route.match ?? []);
  yield* bodyFindings(at.at('directResponse', 'body'), route.directResponse?.body);
  yield* retryFindings(at.at('retries'), route.retries);
  yield* rewriteFindings(at.at('rewrite'), route.rewrite);
  yield* authorityFindings(at, route);
  for (const [i, { headers }] of (route.route ?? []).entries()) {
    yield* headersFindings(at.at('route', i, 'headers'), headers);
  }
  yield* destinationsFindings(at.at('route'), route.route ?? []);
}
