import type { envoy } from '#generated/proto/types.ts';

type StringMatcher = envoy.type.matcher.v3.StringMatcher;
type ValueMatcher = envoy.type.matcher.v3.ValueMatcher;
type MetadataMatcher = envoy.type.matcher.v3.MetadataMatcher;
type HeaderMatcher = envoy.config.route.v3.HeaderMatcher;

const JWT_FILTER = 'envoy.filters.http.jwt_authn';
const JWT_PAYLOAD = 'payload';

/** Any text but the empty one. */
export const ANY_TEXT: StringMatcher = { safeRegex: { regex: '.+' } };

/** The text as an RE2 expression that matches it alone. */
export function quoteRegex(text: string): string {
  return text.replace(/[\\.+*?()|[\]{}^$]/g, '\\$&');
}

/**
 * `*`, `*suffix`, `prefix*` or an exact text, after `prefix` that every text has.
 * @see istio/istio pilot/pkg/security/authz/matcher/string.go `StringMatcherWithPrefix`
 */
export function textMatcher(value: string, prefix = ''): StringMatcher {
  if (value === '*') return ANY_TEXT;
  if (value.startsWith('*')) {
    const suffix = value.slice(1);
    return prefix === '' ? { suffix } : { safeRegex: { regex: `${prefix}.*${quoteRegex(suffix)}` } };
  }
  return value.endsWith('*') ? { prefix: prefix + value.slice(0, -1) } : { exact: prefix + value };
}

/** A header with one of the forms of `textMatcher`; `*` asks only that it is there. */
export function headerMatcher(name: string, value: string, ignoreCase = false): HeaderMatcher {
  if (value === '*') return { name, presentMatch: true };
  return { name, stringMatch: { ...textMatcher(value), ...(ignoreCase ? { ignoreCase } : {}) } };
}

function anyOf(values: readonly string[]): ValueMatcher {
  const matchers = values.map((value): ValueMatcher => ({ stringMatch: textMatcher(value) }));
  return oneOrAnyOf(matchers);
}

function oneOrAnyOf(valueMatchers: readonly ValueMatcher[]): ValueMatcher {
  const [only] = valueMatchers;
  return only !== undefined && valueMatchers.length === 1 ? only : { orMatch: { valueMatchers } };
}

/** A claim of a verified token whose value is text. */
export function claimText(claim: string, value: StringMatcher): MetadataMatcher {
  return { filter: JWT_FILTER, path: [{ key: JWT_PAYLOAD }, { key: claim }], value: { stringMatch: value } };
}

/** A claim of a verified token that is, or contains, one of the values. `claims` are the names down to a nested claim. */
export function claimContains(claims: readonly string[], values: readonly string[]): MetadataMatcher {
  const value = anyOf(values);
  return {
    filter: JWT_FILTER,
    path: [JWT_PAYLOAD, ...claims].map((key) => ({ key })),
    value: { orMatch: { valueMatchers: [{ listMatch: { oneOf: value } }, value] } },
  };
}

/**
 * Metadata that a filter left, by a condition's key `experimental.envoy.filters.<filter>[<key>]`; a value in brackets is
 * looked for in a list.
 *
 * @returns undefined when the key has no such form
 */
export function filterMetadata(key: string, values: readonly string[]): MetadataMatcher | undefined {
  const text = key.replace(/^experimental\./, '').replace(/]$/, '');
  const bracket = text.indexOf('[');
  if (bracket < 0) return undefined;
  const value = oneOrAnyOf(
    values.map((entry): ValueMatcher => {
      const list = entry.startsWith('[') && entry.endsWith(']');
      const stringMatch = textMatcher(list ? entry.replace(/^[[\]]+|[[\]]+$/g, '') : entry);
      return list ? { listMatch: { oneOf: { stringMatch } } } : { stringMatch };
    }),
  );
  return { filter: text.slice(0, bracket), path: [{ key: text.slice(bracket + 1) }], value };
}
