import type { HTTPMatchRequest, HTTPRoute, StringMatch } from '#generated/config/specs.ts';
import { selects } from '../../base/labels.ts';
import type { Finding, Place } from '../finding.ts';

/** More conditions of one object are not compared, as each is with all before it. */
const MOST_COMPARED = 500;

type Matches = Readonly<Record<string, StringMatch>>;

/** Whether every text that `narrow` is for is one that `wide` is for, as far as can be said without running expressions. */
function implies(narrow: StringMatch | undefined, wide: StringMatch | undefined, ignoresCase = false): boolean {
  if (wide === undefined) return true;
  if (narrow === undefined) return wide.prefix === '';
  const fold = (text: string) => (ignoresCase ? text.toLowerCase() : text);
  const text = narrow.exact ?? narrow.prefix;
  if (wide.exact !== undefined) return narrow.exact !== undefined && fold(narrow.exact) === fold(wide.exact);
  if (wide.prefix !== undefined) return text !== undefined && fold(text).startsWith(fold(wide.prefix));
  return wide.regex === narrow.regex && wide.regex !== undefined;
}

/** A name with nothing to match asks that it is there. */
function isPresence({ exact, prefix, regex }: StringMatch): boolean {
  return exact === undefined && prefix === undefined && regex === undefined;
}

function allImplied(narrow: Matches = {}, wide: Matches = {}): boolean {
  return Object.entries(wide).every(([name, match]) => {
    const own = narrow[name];
    return own !== undefined && (isPresence(match) || implies(own, match));
  });
}

/** What must not be there is the same for both, or asked for by the narrow one alone. */
function allExcluded(narrow: Matches = {}, wide: Matches = {}): boolean {
  return Object.entries(wide).every(([name, match]) => JSON.stringify(narrow[name]) === JSON.stringify(match));
}

function sameOrUnasked<T>(narrow: T | undefined, wide: T | undefined): boolean {
  return wide === undefined || wide === narrow;
}

/** @param everywhere the gateways of the object, where a match that names none counts */
function covers(wide: HTTPMatchRequest, narrow: HTTPMatchRequest, everywhere: readonly string[]): boolean {
  const wideGateways = wide.gateways ?? [];
  const narrowGateways = narrow.gateways?.length ? narrow.gateways : everywhere;
  if (wide.ignoreUriCase !== true && narrow.ignoreUriCase === true && wide.uri !== undefined) return false;
  return (
    (wide.uri?.prefix === '/' || implies(narrow.uri, wide.uri, wide.ignoreUriCase)) &&
    implies(narrow.scheme, wide.scheme) &&
    implies(narrow.method, wide.method) &&
    implies(narrow.authority, wide.authority) &&
    allImplied(narrow.headers, wide.headers) &&
    allImplied(narrow.queryParams, wide.queryParams) &&
    allExcluded(narrow.withoutHeaders, wide.withoutHeaders) &&
    sameOrUnasked(narrow.port, wide.port) &&
    sameOrUnasked(narrow.sourceNamespace, wide.sourceNamespace) &&
    selects(wide.sourceLabels, narrow.sourceLabels ?? {}) &&
    (wideGateways.length === 0 || narrowGateways.every((gateway) => wideGateways.includes(gateway)))
  );
}

/**
 * Rules of which all requests are taken by rules before them, beyond what Istio compares: an exact path below a prefix, fewer
 * headers, an expression that stands before.
 *
 * @param known paths at which something is said already
 */
export function* coveredMatches(
  at: Place,
  rules: readonly HTTPRoute[],
  gateways: readonly string[],
  known: ReadonlySet<string>,
): Generator<Finding> {
  const before: { readonly rule: number; readonly match: HTTPMatchRequest }[] = [];
  for (const [rule, { match = [] }] of rules.entries()) {
    if (match.length === 0 || before.length > MOST_COMPARED) return;
    const takers = match.map((own) => before.find((earlier) => covers(earlier.match, own, gateways))?.rule);
    if (!takers.includes(undefined)) {
      const rulesBefore = [...new Set(takers)].join(' and ');
      if (!known.has(JSON.stringify(at.at(rule).path))) {
        yield at.at(rule).warning(`the rule is never reached: rule ${rulesBefore} takes all its requests`, 'IST0130');
      }
    } else {
      for (const [j, taker] of takers.entries()) {
        const place = at.at(rule, 'match', j);
        if (taker === undefined || known.has(JSON.stringify(place.path))) continue;
        yield place.info(`never decides: rule ${taker} has a wider match, which comes first`, 'IST0131');
      }
    }
    for (const own of match) before.push({ rule, match: own });
  }
}
