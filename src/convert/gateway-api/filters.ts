import type {
  CorsFilter,
  CorsPolicy,
  GrpcFilter,
  HeaderModifier,
  HeaderOperations,
  Headers,
  HTTPMirrorPolicy,
  HTTPRedirect,
  HTTPRewrite,
  HTTPRoute,
  HttpFilter,
  RequestMirror,
  RequestRedirect,
  RouteHeader,
  StringMatch,
  UrlRewrite,
} from '#generated/config/specs.ts';
import type { Path } from '../../config/finding.ts';
import type { Problem } from '../problem.ts';
import { type BackendFacts, type BackendQuestion, backendOf } from './references.ts';

/** Names in small letters; of several values of a name the first counts. */
function headerMap(headers: readonly RouteHeader[] | undefined): Readonly<Record<string, string>> {
  const map = new Map<string, string>();
  for (const { name, value } of headers ?? []) {
    const key = name.toLowerCase();
    if (!map.has(key)) map.set(key, value);
  }
  return Object.fromEntries(map);
}

function headerOperations({ set, add, remove }: HeaderModifier): HeaderOperations {
  return {
    ...(set && { set: headerMap(set) }),
    ...(add && { add: headerMap(add) }),
    ...(remove && { remove }),
  };
}

function redirect({ scheme, hostname, path, port, statusCode }: RequestRedirect): HTTPRedirect {
  return {
    ...(statusCode !== undefined && { redirectCode: statusCode }),
    ...(hostname && { authority: hostname }),
    ...(scheme && { scheme }),
    // Without a scheme clients stay at the port to which they came.
    ...(port === undefined
      ? { derivePort: scheme === undefined ? ('FROM_REQUEST_PORT' as const) : ('FROM_PROTOCOL_DEFAULT' as const) }
      : { port }),
    ...(path?.type === 'ReplaceFullPath' && { uri: path.replaceFullPath ?? '' }),
    ...(path?.type === 'ReplacePrefixMatch' && { prefixRewrite: path.replacePrefixMatch ?? '' }),
  };
}

/** Undefined when nothing is changed. */
function rewrite({ hostname, path }: UrlRewrite): HTTPRewrite | undefined {
  const prefix = path?.replacePrefixMatch?.replace(/\/$/, '');
  const changes: HTTPRewrite = {
    ...(path?.type === 'ReplacePrefixMatch' && { uri: prefix || '/' }),
    ...(path?.type === 'ReplaceFullPath' && {
      uriRegexRewrite: { match: '/.*', rewrite: path.replaceFullPath ?? '' },
    }),
    ...(hostname && { authority: hostname }),
  };
  return Object.keys(changes).length === 0 ? undefined : changes;
}

/** Origins have the form scheme://host[:port]; nothing else is one, whatever is allowed. */
const ANY_ORIGIN = '^[a-zA-Z][a-zA-Z0-9+.-]*://[^/\\s?#]+$';

function origin(text: string): StringMatch {
  if (text === '*') return { regex: ANY_ORIGIN };
  const [first = '', ...others] = text.split('*');
  if (others.length === 0) return { exact: text };
  if (others.length === 1 && others[0] === '') return { prefix: first };
  return { regex: `^${[first, ...others].map(quoted).join('.*')}$` };
}

function quoted(text: string): string {
  return text.replace(/[\\.+*?()|[\]{}^$]/g, '\\$&');
}

function corsPolicy(cors: CorsFilter): CorsPolicy {
  const { allowOrigins, allowCredentials, allowMethods, allowHeaders, exposeHeaders, maxAge } = cors;
  return {
    ...(allowOrigins && { allowOrigins: allowOrigins.map(origin) }),
    ...(allowCredentials && { allowCredentials }),
    ...(allowMethods && { allowMethods }),
    ...(allowHeaders && { allowHeaders }),
    ...(exposeHeaders && { exposeHeaders }),
    ...(maxAge && { maxAge: `${maxAge}s` }),
    unmatchedPreflights: 'IGNORE',
  };
}

function mirrorShare({ percent, fraction }: RequestMirror): HTTPMirrorPolicy['percentage'] {
  if (fraction !== undefined) return { value: (100 * fraction.numerator) / (fraction.denominator ?? 100) };
  return percent === undefined ? undefined : { value: percent };
}

/** What filters make of a rule. A fatal problem keeps the whole route from being taken. */
export interface FilterActions {
  readonly actions: Pick<HTTPRoute, 'headers' | 'redirect' | 'rewrite' | 'mirrors' | 'corsPolicy'>;
  readonly problems: readonly Problem[];
  readonly fatal?: Problem;
}

type Filter = HttpFilter | GrpcFilter;
type Referring = Pick<BackendQuestion, 'referrer' | 'needsGrant'>;

const UNSUPPORTED =
  'there is no such filter here: remove it, and use an AuthorizationPolicy, WasmPlugin or EnvoyFilter';

function headersOf(filters: readonly Filter[]): Headers | undefined {
  const request = filters.findLast(({ requestHeaderModifier }) => requestHeaderModifier)?.requestHeaderModifier;
  const response = filters.findLast(({ responseHeaderModifier }) => responseHeaderModifier)?.responseHeaderModifier;
  if (request === undefined && response === undefined) return undefined;
  return {
    ...(request && { request: headerOperations(request) }),
    ...(response && { response: headerOperations(response) }),
  };
}

/** Filters of one backend, which can change headers alone. */
export function backendHeaders(
  filters: readonly Filter[],
  path: Path,
): { readonly headers?: Headers; readonly fatal?: Problem } {
  const at = filters.findIndex(({ type }) => type !== 'RequestHeaderModifier' && type !== 'ResponseHeaderModifier');
  const bad = filters[at];
  if (bad !== undefined) {
    const message = `a filter of type ${bad.type} is for a whole rule, not for one backend`;
    return { fatal: { reason: 'InvalidFilter', message, path: [...path, at, 'type'] } };
  }
  const headers = headersOf(filters);
  return headers === undefined ? {} : { headers };
}

/** @see istio/istio pilot/pkg/config/kube/gateway/conversion.go `convertHTTPRoute`, `convertGRPCRoute` */
export function filterActions(
  filters: readonly Filter[],
  path: Path,
  referring: Referring,
  facts: BackendFacts,
): FilterActions {
  const problems: Problem[] = [];
  const mirrors: HTTPMirrorPolicy[] = [];
  for (const [i, filter] of filters.entries()) {
    if (filter.type === 'ExtensionRef' || filter.type === 'ExternalAuth') {
      return {
        actions: {},
        problems,
        fatal: { reason: 'InvalidFilter', message: UNSUPPORTED, path: [...path, i, 'type'] },
      };
    }
    const { requestMirror } = filter;
    if (requestMirror === undefined) continue;
    const to = [...path, i, 'requestMirror', 'backendRef'];
    const backend = backendOf({ ref: requestMirror.backendRef, path: to, ...referring }, facts);
    const { destination, problem } = backend;
    const percentage = mirrorShare(requestMirror);
    if (problem === undefined) mirrors.push({ destination, ...(percentage && { percentage }) });
    else if (referring.referrer.kind === 'GRPCRoute') return { actions: {}, problems, fatal: problem };
    else problems.push(problem);
  }
  const headers = headersOf(filters);
  const { requestRedirect, urlRewrite, cors } = Object.assign({}, ...filters) as Partial<HttpFilter>;
  const changes = urlRewrite && rewrite(urlRewrite);
  return {
    problems,
    actions: {
      ...(headers && { headers }),
      ...(requestRedirect && { redirect: redirect(requestRedirect) }),
      ...(changes && { rewrite: changes }),
      ...(mirrors.length > 0 && { mirrors }),
      ...(cors && { corsPolicy: corsPolicy(cors) }),
    },
  };
}
