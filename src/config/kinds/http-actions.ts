import type {
  CorsPolicy,
  HTTPBody,
  HTTPFaultInjection,
  HTTPMatchRequest,
  HTTPRedirect,
  HTTPRewrite,
  Percent,
} from '#generated/config/specs.ts';
import { parseDuration } from '../../base/duration.ts';
import type { Finding, Place } from '../finding.ts';
import { headerNameProblem } from './headers.ts';
import { stringMatchFindings } from './http-match.ts';
import { problem } from './names.ts';
import { regexProblem } from './regex.ts';

const CORS_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', '*'];

/** @see istio/istio pkg/config/validation/validation.go `validateCORSPolicy` */
export function* corsFindings(at: Place, policy: CorsPolicy | undefined): Generator<Finding> {
  if (policy === undefined) return;
  for (const [i, origin] of (policy.allowOrigins ?? []).entries()) {
    const place = at.at('allowOrigins', i);
    const empty = (origin.exact ?? origin.prefix ?? origin.regex ?? '') === '';
    if (empty) yield place.error('is empty: write exact, prefix or regex with a text');
    else yield* stringMatchFindings(place, origin);
  }
  for (const [i, method] of (policy.allowMethods ?? []).entries()) {
    if (CORS_METHODS.includes(method)) continue;
    yield at.at('allowMethods', i).error(`"${method}" is not one of ${CORS_METHODS.join(', ')}`);
  }
  for (const list of ['allowHeaders', 'exposeHeaders'] as const) {
    for (const [i, name] of (policy[list] ?? []).entries()) yield* problem(at.at(list, i), headerNameProblem(name));
  }
  const maxAge = parseDuration(policy.maxAge ?? '0') ?? 0;
  if (Math.round(maxAge) % 1000 !== 0) yield at.at('maxAge').error(`"${policy.maxAge}" must be whole seconds`);
}

const GRPC_STATUSES =
  'OK CANCELLED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS PERMISSION_DENIED RESOURCE_EXHAUSTED FAILED_PRECONDITION ABORTED OUT_OF_RANGE UNIMPLEMENTED INTERNAL UNAVAILABLE DATA_LOSS UNAUTHENTICATED'.split(
    ' ',
  );

function* percentageFindings(at: Place, percentage: Percent | undefined): Generator<Finding> {
  const { value = 0 } = percentage ?? {};
  if (value > 0 && value < 0.0001) yield at.at('value').error(`${value} is too small: 0.0001 is the least above 0`);
}

/** @see istio/istio pkg/config/validation/validation.go `validateHTTPFaultInjection` */
export function* faultFindings(at: Place, fault: HTTPFaultInjection | undefined): Generator<Finding> {
  if (fault === undefined) return;
  const { abort, delay } = fault;
  if (abort === undefined && delay === undefined) yield at.error('says nothing: set delay or abort');
  if (abort !== undefined) {
    const place = at.at('abort');
    yield* percentageFindings(place.at('percentage'), abort.percentage);
    if (abort.grpcStatus !== undefined && !GRPC_STATUSES.includes(abort.grpcStatus)) {
      yield place.at('grpcStatus').error(`"${abort.grpcStatus}" is not one of ${GRPC_STATUSES.join(', ')}`);
    }
    if (abort.httpStatus === undefined && abort.grpcStatus === undefined && abort.http2Error === undefined) {
      yield place.warning('has no effect without httpStatus or grpcStatus');
    }
  }
  if (delay === undefined) return;
  yield* percentageFindings(at.at('delay', 'percentage'), delay.percentage);
}

function redirectProblem(redirect: HTTPRedirect, matches: readonly HTTPMatchRequest[]): string | undefined {
  const { uri = '', prefixRewrite = '', authority = '', scheme = '', redirectCode = 0 } = redirect;
  if (uri !== '' && prefixRewrite !== '') return 'only one of uri and prefixRewrite may be set';
  if (prefixRewrite !== '' && matches.some((match) => match.uri !== undefined && match.uri.prefix === undefined)) {
    return 'prefixRewrite needs a prefix to replace: match every "uri" by prefix';
  }
  const port = redirect.port ?? redirect.derivePort;
  if (uri === '' && prefixRewrite === '' && authority === '' && scheme === '' && port === undefined) {
    return 'says not where to: set uri, prefixRewrite, authority, scheme or port';
  }
  if (redirectCode !== 0 && (redirectCode < 300 || redirectCode > 399))
    return `redirectCode ${redirectCode} is not 3xx`;
  if (!['', 'http', 'https'].includes(scheme)) return `scheme "${scheme}" must be "http" or "https"`;
  return undefined;
}

/** @see istio/istio pkg/config/validation/validation.go `validateHTTPRedirect` */
export function* redirectFindings(
  at: Place,
  redirect: HTTPRedirect | undefined,
  matches: readonly HTTPMatchRequest[],
): Generator<Finding> {
  if (redirect !== undefined) yield* problem(at, redirectProblem(redirect, matches));
}

/** @see istio/istio pkg/config/validation/validation.go `validateHTTPRewrite` */
export function* rewriteFindings(at: Place, rewrite: HTTPRewrite | undefined): Generator<Finding> {
  if (rewrite === undefined) return;
  const { uri = '', authority = '', uriRegexRewrite } = rewrite;
  if (uri !== '' && uriRegexRewrite !== undefined) {
    yield at.at('uriRegexRewrite').error('only one of uri and uriRegexRewrite may be set');
  } else if (uri === '' && authority === '' && uriRegexRewrite === undefined) {
    yield at.error('says nothing: set uri, uriRegexRewrite or authority');
  } else if (uriRegexRewrite !== undefined) {
    const { match = '', rewrite: replacement = '' } = uriRegexRewrite;
    const place = at.at('uriRegexRewrite');
    if (match === '' || replacement === '') yield place.error('needs both "match" and "rewrite"');
    else yield* problem(place.at('match'), regexProblem(match));
  }
}

const KIB = 1024;

function bodySize({ string = '', bytes = '' }: HTTPBody): number {
  return Math.max(Buffer.byteLength(string), Buffer.byteLength(bytes, 'base64'));
}

/** A body goes to every proxy with each change of its routes, so it must be small. */
export function* bodyFindings(at: Place, body: HTTPBody | undefined): Generator<Finding> {
  const size = body === undefined ? 0 : bodySize(body);
  if (size > KIB * KIB) yield at.error(`has ${size} bytes; at most ${KIB * KIB} are allowed`);
  else if (size > 100 * KIB)
    yield at.warning(`has ${size} bytes, which every proxy gets: serve it from somewhere else`);
}
