import type {
  CorsFilter,
  GrpcFilter,
  HeaderModifier,
  HttpFilter,
  PathModifier,
  RequestMirror,
} from '#generated/config/specs.ts';
import type { Finding, Place } from '../finding.ts';
import { portOfService, uniqueNames } from './gateway-api-parents.ts';

type Filter = HttpFilter | GrpcFilter;

/** The field in which the settings of a filter stand. */
const FIELDS: Readonly<Record<HttpFilter['type'], keyof HttpFilter>> = {
  RequestHeaderModifier: 'requestHeaderModifier',
  ResponseHeaderModifier: 'responseHeaderModifier',
  RequestMirror: 'requestMirror',
  RequestRedirect: 'requestRedirect',
  URLRewrite: 'urlRewrite',
  CORS: 'cors',
  ExtensionRef: 'extensionRef',
  ExternalAuth: 'externalAuth',
};

/** Filters of which a rule may have several. */
const REPEATED: ReadonlySet<string> = new Set(['RequestMirror', 'ExtensionRef', 'ExternalAuth']);

const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

function* headerFindings(at: Place, { set, add }: HeaderModifier): Generator<Finding> {
  yield* uniqueNames(at.at('set'), set, 'header');
  yield* uniqueNames(at.at('add'), add, 'header');
}

function* mirrorFindings(at: Place, { backendRef, percent, fraction }: RequestMirror): Generator<Finding> {
  yield* portOfService(at.at('backendRef'), backendRef);
  if (percent !== undefined && fraction !== undefined) {
    yield at.at('fraction').error('percent and fraction exclude each other: keep the one that you mean');
  }
  if (fraction !== undefined && fraction.numerator > (fraction.denominator ?? 100)) {
    yield at.at('fraction', 'numerator').error('must not be above the denominator');
  }
}

function* pathFindings(at: Place, path: PathModifier | undefined): Generator<Finding> {
  if (path === undefined) return;
  const { type, replaceFullPath, replacePrefixMatch } = path;
  const wanted = type === 'ReplaceFullPath' ? 'replaceFullPath' : 'replacePrefixMatch';
  const other = type === 'ReplaceFullPath' ? 'replacePrefixMatch' : 'replaceFullPath';
  const values = { replaceFullPath, replacePrefixMatch };
  if (values[wanted] === undefined) yield at.error(`type ${type} needs "${wanted}"`);
  if (values[other] !== undefined) yield at.at(other).error(`type ${type} has no "${other}": remove it`);
}

function* corsFindings(at: Place, cors: CorsFilter): Generator<Finding> {
  for (const field of ['allowOrigins', 'allowMethods', 'allowHeaders'] as const) {
    const values: readonly string[] = cors[field] ?? [];
    if (values.includes('*') && values.length > 1) yield at.at(field).error('"*" is all: write nothing beside it');
  }
}

function* settingsFindings(at: Place, filter: Filter): Generator<Finding> {
  const field = FIELDS[filter.type];
  if (!(field in filter)) yield at.error(`a filter of type ${filter.type} needs "${field}"`);
  for (const [type, other] of Object.entries(FIELDS)) {
    if (other !== field && other in filter) {
      yield at.at(other).error(`a filter of type ${filter.type} has no "${other}": remove it, or write type ${type}`);
    }
  }
  const { requestHeaderModifier, responseHeaderModifier, requestMirror } = filter;
  if (requestHeaderModifier) yield* headerFindings(at.at('requestHeaderModifier'), requestHeaderModifier);
  if (responseHeaderModifier) yield* headerFindings(at.at('responseHeaderModifier'), responseHeaderModifier);
  if (requestMirror) yield* mirrorFindings(at.at('requestMirror'), requestMirror);
  const { requestRedirect, urlRewrite, cors } = filter as HttpFilter;
  if (requestRedirect) {
    yield* pathFindings(at.at('requestRedirect', 'path'), requestRedirect.path);
    const { statusCode = 302 } = requestRedirect;
    if (!REDIRECTS.includes(statusCode)) {
      yield at.at('requestRedirect', 'statusCode').error(`${statusCode} is not one of ${REDIRECTS.join(', ')}`);
    }
  }
  if (urlRewrite) yield* pathFindings(at.at('urlRewrite', 'path'), urlRewrite.path);
  if (cors) yield* corsFindings(at.at('cors'), cors);
}

/** Filters of a rule or of a backend. */
export function* filterFindings(at: Place, filters: readonly Filter[] | undefined): Generator<Finding> {
  const seen = new Set<string>();
  for (const [i, filter] of (filters ?? []).entries()) {
    yield* settingsFindings(at.at(i), filter);
    if (seen.has(filter.type) && !REPEATED.has(filter.type)) {
      yield at.at(i, 'type').error(`a filter of type ${filter.type} stands before: join them`);
    }
    seen.add(filter.type);
  }
  if (seen.has('RequestRedirect') && seen.has('URLRewrite')) {
    yield at.error('RequestRedirect and URLRewrite exclude each other: keep the one that you mean');
  }
}
