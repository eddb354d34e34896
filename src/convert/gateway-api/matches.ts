import type {
  GrpcMatch,
  GrpcMethodMatch,
  HTTPMatchRequest,
  HTTPRoute,
  HttpMatch,
  HttpPathMatch,
  StringMatch,
} from '#generated/config/specs.ts';

interface ValueMatch {
  readonly type?: string;
  readonly name: string;
  readonly value: string;
}

function valueMatches(matches: readonly ValueMatch[]): Readonly<Record<string, StringMatch>> {
  return Object.fromEntries(
    matches.map(({ type, name, value }) => [name, type === 'RegularExpression' ? { regex: value } : { exact: value }]),
  );
}

/** A trailing slash of a prefix says nothing. */
function pathMatch({ type, value = '/' }: HttpPathMatch): StringMatch {
  if (type === 'Exact') return { exact: value };
  if (type === 'RegularExpression') return { regex: value };
  return { prefix: value === '/' ? value : value.replace(/\/$/, '') };
}

export function httpMatch({ path = {}, headers, queryParams, method }: HttpMatch): HTTPMatchRequest {
  return {
    uri: pathMatch(path),
    ...(headers && { headers: valueMatches(headers) }),
    ...(queryParams && { queryParams: valueMatches(queryParams) }),
    ...(method && { method: { exact: method } }),
  };
}

/** A call is a request for `/service/method`. */
function callPath({ type, service, method }: GrpcMethodMatch): StringMatch {
  const isRegex = type === 'RegularExpression';
  if (service === undefined) return { regex: `/[^/]+/${method ?? ''}` };
  if (method === undefined) return isRegex ? { regex: `/${service}/.+` } : { prefix: `/${service}/` };
  return isRegex ? { regex: `/${service}/${method}` } : { exact: `/${service}/${method}` };
}

export function grpcMatch({ method, headers }: GrpcMatch): HTTPMatchRequest {
  return {
    ...(method && { uri: callPath(method) }),
    ...(headers && { headers: valueMatches(headers) }),
  };
}

/** The kind of path condition, then its length: what is more specific is greater. */
function pathRank(uri: StringMatch | undefined): readonly [number, number] {
  if (uri?.exact !== undefined) return [3, uri.exact.length];
  if (uri?.prefix !== undefined) return [2, uri.prefix.length];
  return uri?.regex === undefined ? [-1, 0] : [1, uri.regex.length];
}

function size(map: object | undefined): number {
  return Object.keys(map ?? {}).length;
}

/**
 * The order in which rules are tried: by path (exact, prefix, expression, then length), method, and the number of headers and
 * query parameters; rules for all requests last. Rules that are equal in this stay as they were.
 *
 * @see istio/istio pilot/pkg/config/kube/gateway/conversion.go `sortHTTPRoutes`
 */
export function compareRules({ match: [a] = [] }: HTTPRoute, { match: [b] = [] }: HTTPRoute): number {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
  const [kindA, lengthA] = pathRank(a.uri);
  const [kindB, lengthB] = pathRank(b.uri);
  return (
    kindB - kindA ||
    lengthB - lengthA ||
    Number(b.method !== undefined) - Number(a.method !== undefined) ||
    size(b.headers) - size(a.headers) ||
    size(b.queryParams) - size(a.queryParams)
  );
}
