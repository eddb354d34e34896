import type { HTTPMatchRequest, StringMatch } from '#generated/config/specs.ts';
import type { envoy } from '#generated/proto/types.ts';
import { compareStrings } from '../../base/order.ts';
import type { RouteSemantics } from '../../model/virtual-service.ts';
import { claimMatcher } from './claim.ts';

type RouteMatch = envoy.config.route.v3.RouteMatch;
type HeaderMatcher = envoy.config.route.v3.HeaderMatcher;
type QueryParameterMatcher = envoy.config.route.v3.QueryParameterMatcher;
type StringMatcher = envoy.type.matcher.v3.StringMatcher;
type MetadataMatcher = envoy.type.matcher.v3.MetadataMatcher;

/** Undefined when no form is given. */
export function stringMatcher(match: StringMatch): StringMatcher | undefined {
  if (match.exact !== undefined) return { exact: match.exact };
  if (match.prefix !== undefined) return { prefix: match.prefix };
  if (match.regex !== undefined) return { safeRegex: { regex: match.regex } };
  return undefined;
}

/** Only that it is there is asked: no form is given, or the regex `*`, which is no expression of RE2. */
function asksPresence(match: StringMatch): boolean {
  return match.regex === '*' || stringMatcher(match) === undefined;
}

function valueMatch(match: StringMatch): Pick<HeaderMatcher & QueryParameterMatcher, 'presentMatch' | 'stringMatch'> {
  return asksPresence(match) ? { presentMatch: true } : { stringMatch: stringMatcher(match) };
}

function headerMatch(name: string, match: StringMatch): HeaderMatcher {
  return { name, ...valueMatch(match) };
}

/** Envoy does not take a missing header as empty when only presence is asked. */
function absentHeaderMatch(name: string, match: StringMatch): HeaderMatcher {
  return {
    ...headerMatch(name, match),
    invertMatch: true,
    ...(!asksPresence(match) && { treatMissingHeaderAsEmpty: true }),
  };
}

function pathMatch(uri: StringMatch | undefined, semantics: RouteSemantics): RouteMatch {
  if (uri?.exact !== undefined) return { path: uri.exact };
  if (uri?.regex !== undefined) return { safeRegex: { regex: uri.regex } };
  const prefix = uri?.prefix ?? '/';
  if (semantics === 'istio' || prefix === '/') return { prefix };
  return { pathSeparatedPrefix: prefix.endsWith('/') ? prefix.slice(0, -1) : prefix };
}

/**
 * The conditions of a match that hold for a request; those on the client were decided before.
 * @see istio/istio pilot/pkg/networking/core/route/route.go `TranslateRouteMatch`
 */
export function routeMatch(match: HTTPMatchRequest | undefined, semantics: RouteSemantics): RouteMatch {
  if (match === undefined) return { prefix: '/' };
  const headers: HeaderMatcher[] = [];
  const dynamicMetadata: MetadataMatcher[] = [];
  for (const [name, value] of Object.entries(match.headers ?? {})) {
    const claim = claimMatcher(name, stringMatcher(value));
    if (claim === undefined) headers.push(headerMatch(name, value));
    else dynamicMetadata.push(claim);
  }
  for (const [name, value] of Object.entries(match.withoutHeaders ?? {})) {
    const claim = claimMatcher(name, stringMatcher(value));
    if (claim === undefined) headers.push(absentHeaderMatch(name, value));
    else dynamicMetadata.push({ ...claim, invert: true });
  }
  headers.sort((a, b) => compareStrings(a.name ?? '', b.name ?? ''));
  if (match.method) headers.push(headerMatch(':method', match.method));
  if (match.authority) headers.push(headerMatch(':authority', match.authority));
  if (match.scheme) headers.push(headerMatch(':scheme', match.scheme));
  const queryParameters = Object.entries(match.queryParams ?? {})
    .sort(([a], [b]) => compareStrings(a, b))
    .map(([name, value]): QueryParameterMatcher => ({ name, ...valueMatch(value) }));
  return {
    ...pathMatch(match.uri, semantics),
    caseSensitive: !match.ignoreUriCase,
    ...(headers.length > 0 && { headers }),
    ...(queryParameters.length > 0 && { queryParameters }),
    ...(dynamicMetadata.length > 0 && { dynamicMetadata }),
  };
}

/** Whether every request matches, so that no route after this one is ever taken. */
export function matchesAll({ prefix, pathSeparatedPrefix, safeRegex, ...rest }: RouteMatch): boolean {
  const anyPath = prefix === '/' || pathSeparatedPrefix === '/' || safeRegex?.regex === '.*';
  return anyPath && !rest.headers && !rest.queryParameters && !rest.dynamicMetadata;
}
