import type { DestinationRule, TrafficPolicy } from '#generated/config/specs.ts';
import { deepEqual } from '../base/equal.ts';
import { isWildcardHost, mostSpecificMatch } from '../base/host.ts';
import { compareStrings } from '../base/order.ts';
import type { Config, ConfigKey } from '../config/config.ts';
import { MARKS } from '../config/marks.ts';

/** A DestinationRule, merged from all rules of a namespace for the same host, selector and visibility. */
export interface ConsolidatedDestinationRule {
  /** The first of them, with the subsets of all. `spec.host` is resolved. */
  readonly rule: Config<DestinationRule>;
  readonly from: readonly ConfigKey[];
  /** As written; empty means the mesh's default. Rules with a workload selector are private. */
  readonly exportTo: readonly string[];
}

/** Rules by host: exact ones and wildcards apart, as they are looked up. */
export interface DestinationRuleIndex {
  readonly exact: ReadonlyMap<string, readonly ConsolidatedDestinationRule[]>;
  readonly wildcards: ReadonlyMap<string, readonly ConsolidatedDestinationRule[]>;
}

/** Rules with a workload selector first, then the oldest, then by name and namespace. */
export function compareDestinationRules(a: Config<DestinationRule>, b: Config<DestinationRule>): number {
  const selector = Number(b.spec.workloadSelector !== undefined) - Number(a.spec.workloadSelector !== undefined);
  return (
    selector ||
    a.creationTime - b.creationTime ||
    compareStrings(a.name, b.name) ||
    compareStrings(a.namespace, b.namespace)
  );
}

export function exportToOf({ spec }: Config<DestinationRule>): readonly string[] {
  return spec.workloadSelector === undefined ? [...new Set(spec.exportTo ?? [])].sort() : ['.'];
}

/**
 * The index over rules of one namespace; `rules` are sorted by {@link compareDestinationRules} and have resolved hosts.
 * @see istio/istio pilot/pkg/model/destination_rule.go `mergeDestinationRule`
 */
export function destinationRuleIndex(rules: readonly Config<DestinationRule>[]): DestinationRuleIndex {
  const exact = new Map<string, ConsolidatedDestinationRule[]>();
  const wildcards = new Map<string, ConsolidatedDestinationRule[]>();
  for (const rule of rules) {
    const host = rule.spec.host ?? '';
    const hosts = isWildcardHost(host) ? wildcards : exact;
    const list = hosts.get(host) ?? [];
    hosts.set(host, list);
    mergeInto(list, rule);
  }
  return { exact, wildcards };
}

/** Merges `rule` into those of the list that it fits, and appends it unless it was absorbed whole. */
function mergeInto(list: ConsolidatedDestinationRule[], rule: Config<DestinationRule>): void {
  const exportTo = exportToOf(rule);
  const selector = rule.spec.workloadSelector?.matchLabels ?? {};
  let apart = true;
  for (const [i, merged] of list.entries()) {
    apart = true;
    const same = deepEqual(exportTo, merged.exportTo);
    const wider = merged.exportTo.length > 0 && merged.exportTo.every((item) => exportTo.includes(item));
    if (!same && !wider) continue;
    const theirs = merged.rule.spec.workloadSelector;
    const both = theirs !== undefined && rule.spec.workloadSelector !== undefined;
    const neither = theirs === undefined && rule.spec.workloadSelector === undefined;
    if (both && !deepEqual(theirs.matchLabels ?? {}, selector)) continue;
    apart = !(neither || both || same);
    list[i] = merge(merged, rule);
  }
  if (apart) list.push({ rule, from: [rule.key], exportTo });
}

/** Subsets of both, the first of a name; the first traffic policy, which one of the Gateway API only completes. */
function merge(into: ConsolidatedDestinationRule, rule: Config<DestinationRule>): ConsolidatedDestinationRule {
  const { key, spec } = rule;
  const own = into.rule.spec;
  const names = new Set((own.subsets ?? []).map((s) => s.name));
  const subsets = [...(own.subsets ?? []), ...(spec.subsets ?? []).filter((s) => !names.has(s.name))];
  const trafficPolicy = mergedPolicy(into.rule, rule);
  const merged: DestinationRule = {
    ...own,
    ...(subsets.length > 0 ? { subsets } : {}),
    ...(trafficPolicy ? { trafficPolicy } : {}),
  };
  return { ...into, rule: { ...into.rule, spec: merged }, from: [...into.from, key] };
}

/** Made of a policy of the Gateway API; nobody writes such a rule. */
function isMade({ annotations }: Config): boolean {
  return MARKS.parents in annotations;
}

function mergedPolicy(first: Config<DestinationRule>, second: Config<DestinationRule>): TrafficPolicy | undefined {
  const [a, b] = [first.spec.trafficPolicy, second.spec.trafficPolicy];
  if (isMade(first) === isMade(second)) return a ?? b;
  return isMade(first) ? completed(b, a) : completed(a, b);
}

/** What a user says of a field or of a port counts; a policy of the Gateway API says the rest. */
function completed(user: TrafficPolicy | undefined, made: TrafficPolicy | undefined): TrafficPolicy | undefined {
  if (user === undefined || made === undefined) return user ?? made;
  const ofUser = new Map((user.portLevelSettings ?? []).map((settings) => [settings.port?.number, settings]));
  const ofMade = new Map((made.portLevelSettings ?? []).map((settings) => [settings.port?.number, settings]));
  const ports = [...new Set([...ofUser.keys(), ...ofMade.keys()])].sort((a = 0, b = 0) => a - b);
  const portLevelSettings = ports.map((port) => ({ ...ofMade.get(port), ...ofUser.get(port) }));
  return { ...made, ...user, ...(portLevelSettings.length > 0 && { portLevelSettings }) };
}

export function rulesForHost(
  index: DestinationRuleIndex,
  host: string,
): readonly ConsolidatedDestinationRule[] | undefined {
  return mostSpecificMatch(host, index.exact, index.wildcards);
}
