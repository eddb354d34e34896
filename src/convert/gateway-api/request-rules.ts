import type {
  GrpcBackendRef,
  HTTPRetry,
  HTTPRoute,
  HTTPRouteDestination,
  HttpBackendRef,
  KubeGrpcRoute,
  KubeGrpcRule,
  KubeHttpRoute,
  KubeHttpRule,
  RouteRetry,
} from '#generated/config/specs.ts';
import { parseDuration } from '../../base/duration.ts';
import type { Config } from '../../config/config.ts';
import type { Path } from '../../config/finding.ts';
import type { Problem } from '../problem.ts';
import { backendHeaders, type FilterActions, filterActions } from './filters.ts';
import { grpcMatch, httpMatch } from './matches.ts';
import { type BackendFacts, type BackendQuestion, backendOf } from './references.ts';

/** The rules of a route in Istio's words, none of them where one can not be taken. */
export interface RuleSet<Rule> {
  readonly rules: readonly Rule[];
  readonly problems: readonly Problem[];
}

/** Who may use the rules: who comes by a gateway, or clients inside the mesh, whose backends need no grants. */
export type Clients = 'gateway' | 'mesh';

/** Without a weight on one alone; those of weight 0 get nothing. */
function shares<Ref extends { readonly weight?: number }>(
  refs: readonly Ref[],
): readonly { readonly ref: Ref; readonly index: number; readonly weight: number }[] {
  const counted = refs
    .map((ref, index) => ({ ref, index, weight: ref.weight ?? 1 }))
    .filter(({ weight }) => weight > 0);
  return counted.length === 1 ? counted.map((share) => ({ ...share, weight: 0 })) : counted;
}

type Referring = Pick<BackendQuestion, 'referrer' | 'needsGrant'>;
type RequestBackend = HttpBackendRef | GrpcBackendRef;

interface Forwarding {
  readonly route: readonly HTTPRouteDestination[];
  readonly problems: readonly Problem[];
  readonly fatal?: Problem;
}

function forwarding(
  refs: readonly RequestBackend[],
  path: Path,
  referring: Referring,
  facts: BackendFacts,
): Forwarding {
  const route: HTTPRouteDestination[] = [];
  const problems: Problem[] = [];
  for (const { ref, index, weight } of shares(refs)) {
    const at = [...path, index];
    const { destination, problem, isFatal } = backendOf({ ref, path: at, ...referring }, facts);
    if (problem !== undefined && isFatal) return { route: [], problems, fatal: problem };
    if (problem !== undefined) problems.push(problem);
    const { headers, fatal } = backendHeaders(ref.filters ?? [], [...at, 'filters']);
    if (fatal !== undefined) return { route: [], problems, fatal };
    route.push({ destination, ...(weight > 0 && { weight }), ...(headers && { headers }) });
  }
  return { route, problems };
}

/** Connections that failed are tried again, and what is asked for besides. */
const RETRY_ON = ['connect-failure', 'refused-stream', 'unavailable', 'cancelled'] as const;

function retries({ codes = [], attempts = 2, backoff }: RouteRetry): HTTPRetry {
  return {
    attempts: Number(attempts),
    retryOn: [...RETRY_ON, ...codes].join(),
    ...(backoff && { backoff }),
  };
}

function isSomeTime(text: string | undefined): text is string {
  return text !== undefined && (parseDuration(text) ?? 0) > 0;
}

/** A limit of one try is one of the whole request where there is but one. */
function timeLimits({ timeouts = {}, retry }: KubeHttpRule): Pick<HTTPRoute, 'timeout' | 'retries'> {
  const { request, backendRequest } = timeouts;
  const perTry = isSomeTime(backendRequest) ? backendRequest : undefined;
  const whole = perTry !== undefined && retry === undefined ? perTry : isSomeTime(request) ? request : undefined;
  return {
    ...(retry && { retries: { ...retries(retry), ...(perTry && { perTryTimeout: perTry }) } }),
    ...(whole && { timeout: whole }),
  };
}

/** One rule for each of its matches, as the most specific match decides. */
function requestRules(
  { name, filters = [], backendRefs = [] }: KubeHttpRule | KubeGrpcRule,
  matches: readonly (HTTPRoute['match'] | undefined)[],
  extra: Pick<HTTPRoute, 'timeout' | 'retries'>,
  { path, fallbackName, referring, facts }: RuleContext,
): RuleSet<HTTPRoute> & { readonly fatal?: Problem } {
  const filtered: FilterActions = filterActions(filters, [...path, 'filters'], referring, facts);
  if (filtered.fatal !== undefined) return { rules: [], problems: [filtered.fatal], fatal: filtered.fatal };
  const isNothing = shares<RequestBackend>(backendRefs).length === 0 && filtered.actions.redirect === undefined;
  const forward = forwarding(backendRefs, [...path, 'backendRefs'], referring, facts);
  if (forward.fatal !== undefined) return { rules: [], problems: [forward.fatal], fatal: forward.fatal };
  const { route } = forward;
  const common: HTTPRoute = {
    name: name ?? fallbackName,
    ...filtered.actions,
    ...extra,
    ...(isNothing ? { directResponse: { status: 500 } } : route.length > 0 && { route }),
  };
  return {
    rules: matches.map((match) => ({ ...common, ...(match && { match }) })),
    problems: [...forward.problems, ...filtered.problems],
  };
}

interface RuleContext {
  readonly path: Path;
  readonly fallbackName: string;
  readonly referring: Referring;
  readonly facts: BackendFacts;
}

function contextOf(
  { kind, namespace, name }: Config,
  index: number,
  clients: Clients,
  facts: BackendFacts,
): RuleContext {
  return {
    path: ['spec', 'rules', index],
    fallbackName: `${namespace}.${name}.${index}`,
    referring: { referrer: { kind, namespace }, needsGrant: clients === 'gateway' },
    facts,
  };
}

function joined<Rule>(parts: readonly (RuleSet<Rule> & { readonly fatal?: Problem })[]): RuleSet<Rule> {
  const fatal = parts.find((part) => part.fatal)?.fatal;
  if (fatal !== undefined) return { rules: [], problems: [fatal] };
  return { rules: parts.flatMap(({ rules }) => rules), problems: parts.flatMap(({ problems }) => problems) };
}

/** @see istio/istio pilot/pkg/config/kube/gateway/conversion.go `convertHTTPRoute` */
export function httpRules(route: Config<KubeHttpRoute>, clients: Clients, facts: BackendFacts): RuleSet<HTTPRoute> {
  return joined(
    (route.spec.rules ?? []).map((rule, i) => {
      const matches = rule.matches?.map((match) => [httpMatch(match)]) ?? [undefined];
      return requestRules(rule, matches, timeLimits(rule), contextOf(route, i, clients, facts));
    }),
  );
}

/** @see istio/istio pilot/pkg/config/kube/gateway/conversion.go `convertGRPCRoute` */
export function grpcRules(route: Config<KubeGrpcRoute>, clients: Clients, facts: BackendFacts): RuleSet<HTTPRoute> {
  return joined(
    (route.spec.rules ?? []).map((rule, i) => {
      const matches = rule.matches?.map((match) => [grpcMatch(match)]) ?? [undefined];
      return requestRules(rule, matches, {}, contextOf(route, i, clients, facts));
    }),
  );
}
