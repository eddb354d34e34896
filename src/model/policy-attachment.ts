import type { PolicyTargetReference } from '#generated/config/specs.ts';
import { type Labels, selects } from '../base/labels.ts';

/** The label of proxies that a Gateway of the Gateway API has, with its name. */
const GATEWAY_NAME = 'gateway.networking.k8s.io/gateway-name';

/** What the specs of policies say of whom they are for. */
export interface TargetedSpec {
  readonly selector?: { readonly matchLabels?: Labels };
  readonly targetRef?: PolicyTargetReference;
  readonly targetRefs?: readonly PolicyTargetReference[];
}

/** `targetRef` counts where `targetRefs` is empty. */
export function targetsOf(namespace: string, { selector, targetRef, targetRefs = [] }: TargetedSpec): PolicyTargets {
  const targets = targetRefs.length === 0 && targetRef !== undefined ? [targetRef] : targetRefs;
  return { namespace, labels: selector?.matchLabels, targetRefs: targets };
}

/** What a policy says of the workloads that it is for. */
export interface PolicyTargets {
  readonly namespace: string;
  /** Absent: all workloads. */
  readonly labels?: Labels | undefined;
  readonly targetRefs?: readonly PolicyTargetReference[] | undefined;
}

/**
 * Whether a policy is for a workload. Targets are for the gateways of the Gateway API alone, which are told by their label; such a gateway is
 * selected by labels where a policy has no targets.
 *
 * @see istio/istio pilot/pkg/model/policyattachment.go `ShouldAttachPolicy`
 */
export function isAttached(
  { namespace, labels, targetRefs = [] }: PolicyTargets,
  workload: { readonly namespace: string; readonly labels: Labels },
): boolean {
  if (targetRefs.length === 0) return selects(labels, workload.labels);
  const gateway = workload.labels[GATEWAY_NAME];
  if (gateway === undefined || namespace !== workload.namespace) return false;
  return targetRefs.some(
    ({ group, kind, name, namespace: other = '' }) =>
      group === 'gateway.networking.k8s.io' &&
      kind === 'Gateway' &&
      name === gateway &&
      (other === '' || other === workload.namespace),
  );
}
