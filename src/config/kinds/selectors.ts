import type { PolicyTargetReference, PolicyWorkloadSelector, WorkloadSelector } from '#generated/config/specs.ts';
import type { Labels } from '../../base/labels.ts';
import type { Finding, Place } from '../finding.ts';
import { isDnsLabel } from './names.ts';

function* exactLabels(at: Place, labels: Labels): Generator<Finding> {
  for (const [key, value] of Object.entries(labels)) {
    if (key === '') yield at.error('the key of a label must not be empty');
    if (key.includes('*') || value.includes('*')) {
      yield at.at(key).error(`"${key}: ${value}": a selector has no wildcards, write the whole label`);
    }
  }
}

const SELECTS_ALL =
  'the selector names no labels, so it selects every workload of the namespace: leave it out to say so';

/** The selector of a policy. @see istio/istio pkg/config/validation/validation.go `validateWorkloadSelector` */
export function* policySelectorFindings(at: Place, selector: PolicyWorkloadSelector | undefined): Generator<Finding> {
  if (selector === undefined) return;
  yield* exactLabels(at.at('matchLabels'), selector.matchLabels ?? {});
  if (selector.matchLabels === undefined) yield at.warning(SELECTS_ALL);
}

export function* workloadSelectorFindings(at: Place, selector: WorkloadSelector | undefined): Generator<Finding> {
  if (selector === undefined) return;
  yield* exactLabels(at.at('labels'), selector.labels ?? {});
  if (selector.labels === undefined) yield at.warning(SELECTS_ALL);
}

/** Kinds that a policy can be attached to. */
const TARGETS: readonly (readonly [group: string, kind: string])[] = [
  ['', 'Service'],
  ['networking.istio.io', 'ServiceEntry'],
  ['gateway.networking.k8s.io', 'Gateway'],
  ['gateway.networking.k8s.io', 'GatewayClass'],
];

function* targetFindings(at: Place, target: PolicyTargetReference): Generator<Finding> {
  const { group = '', kind } = target;
  if (target.name === '') yield at.at('name').error('the target needs a name');
  if (target.namespace !== undefined && target.namespace !== '') {
    yield at.at('namespace').error('the target is in the namespace of the policy: leave "namespace" out');
  }
  if (!TARGETS.some(([g, k]) => k === kind && (g === group || (g === '' && group === 'core')))) {
    const known = TARGETS.map(([g, k]) => (g === '' ? k : `${k} of ${g}`)).join(', ');
    yield at.at('kind').error(`a policy can not be attached to ${kind} of "${group}", but to ${known}`);
  }
}

interface Targeted {
  readonly selector?: PolicyWorkloadSelector;
  readonly targetRef?: PolicyTargetReference;
  readonly targetRefs?: readonly PolicyTargetReference[];
}

/** What a policy is for: a selector, or targets, but not both. */
export function* targetedFindings(at: Place, spec: Targeted): Generator<Finding> {
  const { selector, targetRef, targetRefs } = spec;
  const [, second] = (['selector', 'targetRef', 'targetRefs'] as const).filter((name) => spec[name] !== undefined);
  if (second !== undefined) yield at.at(second).error('only one of selector, targetRef and targetRefs may be set');
  yield* policySelectorFindings(at.at('selector'), selector);
  if (targetRef !== undefined) yield* targetFindings(at.at('targetRef'), targetRef);
  for (const [i, target] of (targetRefs ?? []).entries()) yield* targetFindings(at.at('targetRefs', i), target);
}

/**
 * Namespaces to which an object is exported.
 *
 * @param mayHide whether `~` (nobody) is allowed, as for services
 * @see istio/istio pkg/config/validation/validation.go `validateExportTo`
 */
export function* exportToFindings(
  at: Place,
  exportTo: readonly string[] | undefined,
  namespace: string,
  mayHide: boolean,
): Generator<Finding> {
  if (exportTo === undefined) return;
  const seen = new Set<string>();
  for (const [i, entry] of exportTo.entries()) {
    const key = entry === '.' ? namespace : entry;
    if (seen.has(key)) yield at.at(i).error(`"${entry}" names a namespace that stands before: remove it`);
    if (key === '*' || (key === '~' && mayHide) || isDnsLabel(key)) seen.add(key);
    else if (key === '~') yield at.at(i).error('"~" is for services alone: write "." to keep it in its namespace');
    else yield at.at(i).error(`"${entry}" is not a namespace, nor "." (its own) or "*" (all)`);
  }
  if (seen.has('*') && exportTo.length > 1) yield at.error('"*" is all namespaces: write nothing beside it');
  if (seen.has('~') && exportTo.length > 1) yield at.error('"~" is no namespace: write nothing beside it');
}
