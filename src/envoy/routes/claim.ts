import type { envoy } from '#generated/proto/types.ts';

type StringMatcher = envoy.type.matcher.v3.StringMatcher;
type ValueMatcher = envoy.type.matcher.v3.ValueMatcher;
type MetadataMatcher = envoy.type.matcher.v3.MetadataMatcher;

const CLAIM_HEADER = '@request.auth.claims';

/**
 * Names of the nested claim that a header name of Istio's own means: `@request.auth.claims.group.id` or
 * `@request.auth.claims[group][id]`; undefined for every other header.
 * @see istio/istio pkg/jwt/routing.go `ToRoutingClaim`
 */
function claimNames(header: string): readonly string[] | undefined {
  if (!header.toLowerCase().startsWith(CLAIM_HEADER)) return undefined;
  const path = header.slice(CLAIM_HEADER.length);
  if (path.startsWith('.') && path.length > 1) return path.slice(1).split('.');
  if (path.startsWith('[') && path.endsWith(']') && path.length > 2) return path.slice(1, -1).split('][');
  return undefined;
}

/** A condition on a claim of the request's verified token, which is a text or a list of texts. */
export function claimMatcher(header: string, text: StringMatcher | undefined): MetadataMatcher | undefined {
  const names = claimNames(header);
  if (names === undefined) return undefined;
  const value: ValueMatcher = { stringMatch: text ?? {} };
  return {
    filter: 'envoy.filters.http.jwt_authn',
    path: ['payload', ...names].map((key) => ({ key })),
    value: { orMatch: { valueMatchers: [{ listMatch: { oneOf: value } }, value] } },
  };
}
