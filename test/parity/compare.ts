import { createHash } from 'node:crypto';
import { canonicalJson } from '../../src/base/intern.ts';
import type { JsonObject } from '../../src/base/json.ts';
import { compareStrings } from '../../src/base/order.ts';
import { type AllowedDifference, allows, isAbout } from './allowed.ts';
import type { Answers, Dataplane } from './ask.ts';
import { type CaseProxy, type CorpusCase, expectedResources, SHORT_TYPES, type ShortType } from './case-files.ts';
import { type Difference, differences, normalized, withoutIstioFilters } from './normalize.ts';

/** `allowed`: it differs only as a line of differences.yaml says. */
export type Verdict = 'equal' | 'allowed' | 'different' | 'missing' | 'extra';

/** What became of one resource. */
export interface Outcome {
  readonly proxy: string;
  readonly type: ShortType;
  readonly name: string;
  readonly verdict: Verdict;
  /** Says which expected content it is: equal for equal content, whoever is sent it. Undefined: it was not expected. */
  readonly identity: string | undefined;
  readonly differences: readonly Difference[];
}

export function isRight({ verdict }: Pick<Outcome, 'verdict'>): boolean {
  return verdict === 'equal' || verdict === 'allowed';
}

export interface Comparison {
  readonly dataplane: Dataplane;
  readonly allowed: readonly AllowedDifference[];
  /** Types that are compared; all unless told otherwise. */
  readonly types?: readonly ShortType[];
}

/** Each resource that a proxy was expected to be sent or was sent. */
export function compared(
  one: CorpusCase,
  proxy: CaseProxy,
  answers: Answers,
  { dataplane, allowed, types = SHORT_TYPES }: Comparison,
): readonly Outcome[] {
  const normal = (resource: JsonObject | undefined) =>
    resource === undefined
      ? undefined
      : normalized(dataplane === 'envoy' ? withoutIstioFilters(resource) : resource, {
          withoutAddressDomains: one.arbitraryAddressDomains,
        });
  return types.flatMap((type) => {
    const expected = expectedResources(one, proxy, type);
    const got = answers.get(type) ?? new Map();
    const names = [...new Set([...expected.keys(), ...got.keys()])].sort(compareStrings);
    return names.map((name): Outcome => {
      const want = normal(expected.get(name));
      const have = normal(got.get(name));
      const found = want === undefined || have === undefined ? PRESENCE : differences(want, have);
      const about = { case: one.name, proxy: proxy.name, type, resource: name };
      const lines = allowed.filter((line) => isAbout(line, about));
      const open = found.filter((difference) => !lines.some((line) => allows(line, difference)));
      return {
        proxy: proxy.name,
        type,
        name,
        verdict:
          found.length === 0
            ? 'equal'
            : open.length === 0
              ? 'allowed'
              : have === undefined
                ? 'missing'
                : want === undefined
                  ? 'extra'
                  : 'different',
        identity: want === undefined ? undefined : `${type}:${hash(canonicalJson(want))}`,
        differences: open,
      };
    });
  });
}

const PRESENCE: readonly Difference[] = [{ path: '', expected: undefined, got: undefined }];

function hash(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

/** Names of resources of which two answers for one proxy differ, as `type name`. */
export function disagreements(a: Answers, b: Answers): readonly string[] {
  return SHORT_TYPES.flatMap((type) => {
    const [left, right] = [a.get(type) ?? new Map(), b.get(type) ?? new Map()];
    const names = [...new Set([...left.keys(), ...right.keys()])].sort(compareStrings);
    return names
      .filter((name) => canonicalJson(left.get(name) ?? null) !== canonicalJson(right.get(name) ?? null))
      .map((name) => `${type} ${name}`);
  });
}
