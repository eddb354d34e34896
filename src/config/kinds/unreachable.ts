import type { HTTPMatchRequest, HTTPRoute, StringMatch } from '#generated/config/specs.ts';
import { canonicalJson } from '../../base/intern.ts';
import type { Finding, Place } from '../finding.ts';

interface Rule {
  readonly match?: readonly object[];
}

interface PrefixMatch {
  readonly at: Place;
  readonly rule: number;
  readonly prefix: string;
  readonly match: HTTPMatchRequest;
}

/**
 * Rules that no traffic reaches, as rules before them take all of it, and matches that stand before already.
 *
 * @see istio/istio pkg/config/validation/validation.go `analyzeUnreachableHTTPRules`
 */
export function* unreachableFindings(at: Place, rules: readonly Rule[]): Generator<Finding> {
  let catchAll: number | undefined;
  const first = new Map<string, number>();
  for (const [i, { match = [] }] of rules.entries()) {
    if (catchAll !== undefined) {
      const why = `rule ${catchAll} has no match and takes all: move it to the end`;
      yield at.at(i).warning(`the rule is never reached: ${why}`, 'IST0130');
      continue;
    }
    if (match.length === 0) {
      catchAll = i;
      continue;
    }
    let repeated = 0;
    for (const [j, condition] of match.entries()) {
      const key = canonicalJson({ ...condition, name: undefined });
      const before = first.get(key);
      if (before === undefined) {
        first.set(key, i);
        continue;
      }
      repeated++;
      yield at.at(i, 'match', j).info(`never decides: rule ${before} has the same match`, 'IST0131');
    }
    if (repeated === match.length) {
      yield at.at(i).warning('the rule is never reached: rules before it have all its matches', 'IST0130');
    }
  }
}

function valueOf({ exact, prefix }: StringMatch = {}): string {
  if ((exact ?? '') !== '') return `exact:${exact}`;
  return (prefix ?? '') === '' ? '' : `prefix:${prefix}`;
}

type Matches = Readonly<Record<string, StringMatch>>;

function sameOrNarrower(a: Matches = {}, b: Matches = {}): boolean {
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && valueOf(a[name]).startsWith(valueOf(b[name])))
  );
}

/** Whether `wide` takes every request that `narrow` would, as far as Istio compares: only exact and prefix matches. */
function covers({ prefix: wide, match: a }: PrefixMatch, { prefix: narrow, match: b }: PrefixMatch): boolean {
  const method = (match: HTTPMatchRequest) => valueOf(match.method) || 'exact:GET';
  return (
    narrow !== wide &&
    narrow.startsWith(wide) &&
    (a.port ?? 0) === (b.port ?? 0) &&
    method(a).startsWith(method(b)) &&
    valueOf(a.authority).startsWith(valueOf(b.authority)) &&
    sameOrNarrower(a.headers, b.headers) &&
    sameOrNarrower(a.queryParams, b.queryParams) &&
    sameOrNarrower(a.withoutHeaders, b.withoutHeaders)
  );
}

/** Matches of a path prefix below one that stands before. */
export function* coveredPrefixes(at: Place, rules: readonly HTTPRoute[]): Generator<Finding> {
  const seen = new Set<string>();
  const before: PrefixMatch[] = [];
  for (const [rule, { match = [] }] of rules.entries()) {
    if (match.length === 0) return;
    for (const [j, condition] of match.entries()) {
      const key = canonicalJson({ ...condition, name: undefined });
      const prefix = condition.uri?.prefix ?? '';
      if (seen.has(key) || prefix === '') continue;
      seen.add(key);
      const current = { at: at.at(rule, 'match', j), rule, prefix, match: condition };
      const wider = before.find((earlier) => covers(earlier, current));
      before.push(current);
      if (wider === undefined) continue;
      const why = `rule ${wider.rule} takes all paths below "${wider.prefix}" before`;
      yield current.at.info(`"${prefix}" never decides: ${why}`, 'IST0131');
    }
  }
}
