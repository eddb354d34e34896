import type { DestinationRule, Subset } from '#generated/config/specs.ts';
import type { Finding, Place } from '../finding.ts';
import { defineKind, type KindDefinition } from '../kind.ts';
import { DestinationRule as schema } from '../schema/destination-rule.ts';
import { isDnsLabel, labelFindings, problem, wildcardHostProblem } from './names.ts';
import { exportToFindings, policySelectorFindings } from './selectors.ts';
import { trafficPolicyFindings } from './traffic-policy.ts';
import { unverifiedServers } from './unverified-servers.ts';

/** Why a text can not be the name of a subset. */
export function subsetNameProblem(name: string): string | undefined {
  if (isDnsLabel(name)) return undefined;
  return name === '' ? 'a subset needs a name' : `"${name}" is not a name of a subset: letters, digits and hyphens are`;
}

function* subsetsFindings(at: Place, subsets: readonly Subset[], namespace: string): Generator<Finding> {
  const names = new Set<string>();
  for (const [i, { name, labels, trafficPolicy }] of subsets.entries()) {
    const place = at.at(i);
    yield* problem(place.at('name'), subsetNameProblem(name));
    if (names.has(name)) yield place.at('name').error(`a subset "${name}" stands before: give each its own name`);
    names.add(name);
    yield* labelFindings(place.at('labels'), labels);
    yield* trafficPolicyFindings(place.at('trafficPolicy'), trafficPolicy, namespace);
  }
}

/** A rule for some clients can not be exported to other namespaces. */
function* selectedExportFindings(at: Place, exportTo: readonly string[], namespace: string): Generator<Finding> {
  for (const [i, entry] of exportTo.entries()) {
    if (entry === '.' || entry === namespace) continue;
    yield at.at(i).error('a rule with workloadSelector is for its own namespace: write exportTo: ["."]');
  }
}

/** @see istio/istio pkg/config/validation/validation.go `ValidateDestinationRule` */
export const DESTINATION_RULE: KindDefinition<DestinationRule> = defineKind({
  group: 'networking.istio.io',
  versions: ['v1', 'v1beta1', 'v1alpha3'],
  kind: 'DestinationRule',
  plural: 'destinationrules',
  scope: 'Namespaced',
  specField: 'spec',
  schema,
  *validate({ spec, namespace, at }) {
    yield* problem(at('host'), wildcardHostProblem(spec.host));
    yield* trafficPolicyFindings(at('trafficPolicy'), spec.trafficPolicy, namespace);
    yield* unverifiedServers(at('trafficPolicy'), spec);
    yield* subsetsFindings(at('subsets'), spec.subsets ?? [], namespace);
    yield* exportToFindings(at('exportTo'), spec.exportTo, namespace, false);
    if (spec.workloadSelector !== undefined) {
      yield* selectedExportFindings(at('exportTo'), spec.exportTo ?? [], namespace);
      yield* policySelectorFindings(at('workloadSelector'), spec.workloadSelector);
    }
  },
});
