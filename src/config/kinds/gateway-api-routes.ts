import type {
  GrpcMatch,
  HttpFilter,
  HttpMatch,
  HttpPathMatch,
  KubeGrpcRoute,
  KubeHttpRoute,
  KubeHttpRule,
  KubeTcpRoute,
  KubeTlsRoute,
  RouteSession,
  RouteTimeouts,
} from '#generated/config/specs.ts';
import { isIpAddress } from '../../base/address.ts';
import { parseDuration } from '../../base/duration.ts';
import type { Finding, Place } from '../finding.ts';
import { defineKind, type KindDefinition } from '../kind.ts';
import {
  KubeGrpcRoute as GrpcSchema,
  KubeHttpRoute as HttpSchema,
  KubeTcpRoute as TcpSchema,
  KubeTlsRoute as TlsSchema,
} from '../schema/gateway-api-routes.ts';
import { filterFindings } from './gateway-api-filters.ts';
import { parentFindings, portOfService, uniqueNames } from './gateway-api-parents.ts';
import { problem } from './names.ts';
import { regexProblem } from './regex.ts';

const ROUTE = { group: 'gateway.networking.k8s.io', scope: 'Namespaced', specField: 'spec' } as const;
const MAX_MATCHES = 128;

const PATH_CHARACTERS = /^(?:[-A-Za-z0-9/._~!$&'()*+,;=:@]|%[0-9a-fA-F]{2})+$/;
/** What a proxy's normalization would change, so that no request could match. */
const NEVER_MATCHED: readonly RegExp[] = [/\/\//, /\/\.\.?(\/|$)/, /%2f/i, /#/];

function* pathFindings(at: Place, { type, value = '/' }: HttpPathMatch): Generator<Finding> {
  if (type === 'RegularExpression') return yield* problem(at.at('value'), regexProblem(value));
  if (!value.startsWith('/')) yield at.at('value').error(`"${value}" must begin with "/"`);
  else if (NEVER_MATCHED.some((part) => part.test(value))) {
    yield at.at('value').error(`"${value}" never matches: it must be without "//", "/./", "/../", "%2F" and "#"`);
  } else if (!PATH_CHARACTERS.test(value)) {
    yield at.at('value').error(`"${value}" has characters that no path has: write them as %XX`);
  }
}

interface ValueMatch {
  readonly type?: string;
  readonly name: string;
  readonly value: string;
}

function* valueFindings(at: Place, matches: readonly ValueMatch[] | undefined, what: string): Generator<Finding> {
  yield* uniqueNames(at, matches, what);
  for (const [i, { type, value }] of (matches ?? []).entries()) {
    if (type === 'RegularExpression') yield* problem(at.at(i, 'value'), regexProblem(value));
  }
}

function* httpMatchFindings(at: Place, { path, headers, queryParams }: HttpMatch): Generator<Finding> {
  if (path !== undefined) yield* pathFindings(at.at('path'), path);
  yield* valueFindings(at.at('headers'), headers, 'header');
  yield* valueFindings(at.at('queryParams'), queryParams, 'parameter');
}

function* timeoutFindings(at: Place, { request, backendRequest }: RouteTimeouts): Generator<Finding> {
  const whole = parseDuration(request ?? '0s') ?? 0;
  if (backendRequest !== undefined && whole !== 0 && (parseDuration(backendRequest) ?? 0) > whole) {
    yield at.at('backendRequest').error(`one try can not take longer than the whole request, ${request}`);
  }
}

function* sessionFindings(at: Place, session: RouteSession | undefined): Generator<Finding> {
  if (session === undefined) return;
  const { type, cookieConfig, absoluteTimeout } = session;
  if (cookieConfig !== undefined && type !== 'Cookie') yield at.at('cookieConfig').error('is for type Cookie alone');
  if (cookieConfig?.lifetimeType === 'Permanent' && absoluteTimeout === undefined) {
    yield at.error('a permanent cookie needs "absoluteTimeout"');
  }
}

function replacesPrefix({ requestRedirect, urlRewrite }: HttpFilter): boolean {
  return [requestRedirect?.path, urlRewrite?.path].some((path) => path?.type === 'ReplacePrefixMatch');
}

/** What takes the place of a prefix needs to know which prefix. */
function* prefixFindings(
  at: Place,
  { matches = [{}] }: KubeHttpRule,
  filters: readonly HttpFilter[],
): Generator<Finding> {
  const [only, ...more] = matches;
  if (more.length === 0 && (only?.path?.type ?? 'PathPrefix') === 'PathPrefix') return;
  for (const [i, filter] of filters.entries()) {
    if (replacesPrefix(filter)) {
      yield at.at(i).error('ReplacePrefixMatch needs a rule with exactly one match, of type PathPrefix');
    }
  }
}

function* httpRuleFindings(at: Place, rule: KubeHttpRule): Generator<Finding> {
  const { matches, filters = [], backendRefs = [], timeouts, sessionPersistence } = rule;
  for (const [i, match] of (matches ?? []).entries()) yield* httpMatchFindings(at.at('matches', i), match);
  yield* filterFindings(at.at('filters'), filters);
  yield* prefixFindings(at.at('filters'), rule, filters);
  for (const [i, backend] of backendRefs.entries()) {
    const place = at.at('backendRefs', i);
    yield* portOfService(place, backend);
    yield* filterFindings(place.at('filters'), backend.filters);
    yield* prefixFindings(place.at('filters'), rule, backend.filters ?? []);
  }
  if (backendRefs.length > 0 && filters.some(({ requestRedirect }) => requestRedirect !== undefined)) {
    yield at.at('backendRefs').error('a rule that redirects forwards nothing: remove them, or the filter');
  }
  if (timeouts !== undefined) yield* timeoutFindings(at.at('timeouts'), timeouts);
  yield* sessionFindings(at.at('sessionPersistence'), sessionPersistence);
}

/** Whether a match takes every request. */
function takesAll({ path, headers, queryParams, method }: HttpMatch): boolean {
  const { type = 'PathPrefix', value = '/' } = path ?? {};
  const others = [headers, queryParams, method].some((condition) => condition !== undefined);
  return type === 'PathPrefix' && value === '/' && !others;
}

/** Prefixes are tried before expressions, so that a rule for all requests leaves none to them. */
function* unreachedFindings(at: Place, rules: readonly KubeHttpRule[]): Generator<Finding> {
  if (!rules.some(({ matches = [{}] }) => matches.some(takesAll))) return;
  for (const [i, { matches = [] }] of rules.entries()) {
    for (const [j, { path }] of matches.entries()) {
      if (path?.type !== 'RegularExpression') continue;
      const place = at.at(i, 'matches', j, 'path', 'type');
      yield place.warning('never decides: prefixes are tried first, and a rule for "/" takes every request');
    }
  }
}

function* matchCount(at: Place, rules: readonly { readonly matches?: readonly unknown[] }[]): Generator<Finding> {
  const count = rules.reduce((sum, { matches = [] }) => sum + matches.length, 0);
  if (count > MAX_MATCHES) yield at.error(`the rules have ${count} matches; at most ${MAX_MATCHES} are allowed`);
}

const ANY_REQUEST: readonly HttpMatch[] = Object.freeze([
  Object.freeze({ path: Object.freeze({ type: 'PathPrefix' as const, value: '/' }) }),
]);

export const HTTP_ROUTE: KindDefinition<KubeHttpRoute> = defineKind({
  ...ROUTE,
  versions: ['v1', 'v1beta1'],
  kind: 'HTTPRoute',
  plural: 'httproutes',
  schema: HttpSchema,
  *validate({ spec: { parentRefs, rules = [] }, at }) {
    yield* parentFindings(at('parentRefs'), parentRefs);
    for (const [i, rule] of rules.entries()) yield* httpRuleFindings(at('rules', i), rule);
    yield* uniqueNames(at('rules'), rules, 'rule');
    yield* matchCount(at('rules'), rules);
    yield* unreachedFindings(at('rules'), rules);
  },
  default: ({ rules = [{}], ...spec }) =>
    Object.freeze({
      ...spec,
      rules: Object.freeze(rules.map((rule) => Object.freeze({ matches: ANY_REQUEST, ...rule }))),
    }),
});

const GRPC_SERVICE = /^\.?[a-z_][a-z_0-9]*(?:\.[a-z_][a-z_0-9]*)*$/i;
const GRPC_METHOD = /^[A-Za-z_][A-Za-z_0-9]*$/;

function* grpcMatchFindings(at: Place, { method, headers }: GrpcMatch): Generator<Finding> {
  yield* valueFindings(at.at('headers'), headers, 'header');
  if (method === undefined) return;
  const place = at.at('method');
  const { type, service, method: name } = method;
  if (service === undefined && name === undefined) yield place.error('needs "service", "method" or both');
  for (const [field, text, form] of [
    ['service', service, GRPC_SERVICE],
    ['method', name, GRPC_METHOD],
  ] as const) {
    if (text === undefined) continue;
    if (type === 'RegularExpression') yield* problem(place.at(field), regexProblem(text));
    else if (!form.test(text)) yield place.at(field).error(`"${text}" is no name of a ${field} of gRPC`);
  }
}

export const GRPC_ROUTE: KindDefinition<KubeGrpcRoute> = defineKind({
  ...ROUTE,
  versions: ['v1'],
  kind: 'GRPCRoute',
  plural: 'grpcroutes',
  schema: GrpcSchema,
  *validate({ spec: { parentRefs, rules = [] }, at }) {
    yield* parentFindings(at('parentRefs'), parentRefs);
    for (const [i, { matches, filters, backendRefs, sessionPersistence }] of rules.entries()) {
      const place = at('rules', i);
      for (const [j, match] of (matches ?? []).entries()) yield* grpcMatchFindings(place.at('matches', j), match);
      yield* filterFindings(place.at('filters'), filters);
      for (const [j, backend] of (backendRefs ?? []).entries()) {
        yield* portOfService(place.at('backendRefs', j), backend);
        yield* filterFindings(place.at('backendRefs', j, 'filters'), backend.filters);
      }
      yield* sessionFindings(place.at('sessionPersistence'), sessionPersistence);
    }
    yield* uniqueNames(at('rules'), rules, 'rule');
    yield* matchCount(at('rules'), rules);
  },
});

function* connectionFindings(at: Place, { parentRefs, rules }: KubeTcpRoute): Generator<Finding> {
  yield* parentFindings(at.at('parentRefs'), parentRefs);
  for (const [i, { backendRefs }] of rules.entries()) {
    for (const [j, backend] of backendRefs.entries())
      yield* portOfService(at.at('rules', i, 'backendRefs', j), backend);
  }
  yield* uniqueNames(at.at('rules'), rules, 'rule');
}

export const TLS_ROUTE: KindDefinition<KubeTlsRoute> = defineKind({
  ...ROUTE,
  versions: ['v1', 'v1alpha3', 'v1alpha2'],
  kind: 'TLSRoute',
  plural: 'tlsroutes',
  schema: TlsSchema,
  *validate({ spec, at }) {
    yield* connectionFindings(at(), spec);
    for (const [i, host] of (spec.hostnames ?? []).entries()) {
      if (isIpAddress(host))
        yield at('hostnames', i).error(`"${host}" is an address, for which no client asks by name`);
    }
  },
});

export const TCP_ROUTE: KindDefinition<KubeTcpRoute> = defineKind({
  ...ROUTE,
  versions: ['v1', 'v1alpha2'],
  kind: 'TCPRoute',
  plural: 'tcproutes',
  schema: TcpSchema,
  *validate({ spec, at }) {
    yield* connectionFindings(at(), spec);
  },
});
