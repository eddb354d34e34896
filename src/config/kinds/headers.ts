import type { HeaderOperations, Headers } from '#generated/config/specs.ts';
import type { Finding, Place } from '../finding.ts';
import { headerValueProblem } from './header-value.ts';
import { problem } from './names.ts';

const TOKEN = /^[!#$%&'*+\-.^_`|~A-Za-z0-9]+$/;
const PSEUDO_HEADERS: ReadonlySet<string> = new Set([':method', ':scheme', ':authority', ':path', ':status']);

/** Whether a header match means a claim of a token, as `@request.auth.claims.group` or `@request.auth.claims[group]`. */
export function isClaimRoute(name: string): boolean {
  return /^@request\.auth\.claims(?:\..+|\[.+\])$/is.test(name);
}

export function headerNameProblem(name: string): string | undefined {
  if (name === '') return 'the name of a header must not be empty';
  return TOKEN.test(name) ? undefined : `"${name}" is not the name of a header`;
}

/** Of a header that is matched: pseudo headers and claims count, too. */
export function matchedHeaderProblem(name: string): string | undefined {
  return isClaimRoute(name) || PSEUDO_HEADERS.has(name) ? undefined : headerNameProblem(name);
}

/** The host may be written as `:authority` or `host`. */
export function isAuthority(name: string): boolean {
  return /^(?::authority|host)$/i.test(name);
}

function changedHeaderProblem(name: string, mayBeAuthority: boolean): string | undefined {
  if (name === '') return 'the name of a header must not be empty';
  if (mayBeAuthority && isAuthority(name)) return undefined;
  if (name.toLowerCase() === 'host') return 'the header "host" can not be changed here; "rewrite.authority" does it';
  return name.startsWith(':') ? `"${name}" can not be changed: names with ":" are not those of headers` : undefined;
}

function* operationFindings(at: Place, operations: HeaderOperations, ofRequest: boolean): Generator<Finding> {
  for (const verb of ['set', 'add'] as const) {
    for (const [name, value] of Object.entries(operations[verb] ?? {})) {
      yield* problem(at.at(verb, name), changedHeaderProblem(name, ofRequest) ?? headerValueProblem(value));
    }
  }
  for (const [i, name] of (operations.remove ?? []).entries()) {
    yield* problem(at.at('remove', i), changedHeaderProblem(name, false));
  }
}

/** Changes to headers. @see istio/istio pkg/config/validation/virtualservice.go `validateHTTPRoute` */
export function* headersFindings(at: Place, headers: Headers | undefined): Generator<Finding> {
  if (headers?.request !== undefined) yield* operationFindings(at.at('request'), headers.request, true);
  if (headers?.response !== undefined) yield* operationFindings(at.at('response'), headers.response, false);
}
