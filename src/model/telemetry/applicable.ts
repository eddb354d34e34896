import type { Labels } from '../../base/labels.ts';
import type { ConfigKey } from '../../config/config.ts';
import { isAttached, type PolicyTargets } from '../policy-attachment.ts';

/** What selection needs to know of a Telemetry: for whom it is, and of what it speaks. */
export interface TelemetryHead extends PolicyTargets {
  readonly key: ConfigKey;
  readonly logs: boolean;
  readonly traces: boolean;
  readonly measures: boolean;
}

function isForAll({ labels = {}, targetRefs = [] }: PolicyTargets): boolean {
  return Object.keys(labels).length === 0 && targetRefs.length === 0;
}

export interface ApplicableInput {
  /** Of the root namespace, oldest first. */
  readonly root: readonly TelemetryHead[];
  /** Of the workload's namespace, oldest first; those of the root namespace where it is that. */
  readonly own: readonly TelemetryHead[];
  readonly labels: Labels;
}

/**
 * The Telemetries of a workload, wider ones first: the oldest for the whole mesh, the oldest for the whole namespace, then all
 * that select the workload.
 *
 * @see istio/istio pilot/pkg/model/telemetry.go `applicableTelemetries`
 */
export function applicableTelemetries({ root, own, labels }: ApplicableInput): readonly TelemetryHead[] {
  const wide = [root, own].flatMap((heads) => heads.find(isForAll) ?? []);
  const narrow = own.filter((head) => !isForAll(head) && isAttached(head, { namespace: head.namespace, labels }));
  return [...new Set(wide), ...narrow];
}
