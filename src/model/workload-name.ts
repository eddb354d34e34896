import type { Pod } from '#generated/config/specs.ts';
import type { Labels } from '../base/labels.ts';
import type { Config } from '../config/config.ts';

const NAME_LABEL = 'service.istio.io/workload-name';

/** An object, or an endpoint that stands for one, as far as it says what it is called. */
interface Named {
  readonly name: string;
  readonly labels?: Labels;
  readonly annotations?: Labels;
}

/** @see istio/istio pkg/config/labels `WorkloadNameFromWorkloadEntry` */
export function workloadNameOfEntry({ name, labels = {}, annotations = {} }: Named): string {
  return labels[NAME_LABEL] ?? annotations['istio.io/autoRegistrationGroup'] ?? name;
}

/** Labels of pods whose value ends the name of the ReplicaSet that a Deployment, or an Argo Rollout, made for them. */
const TEMPLATE_HASHES: readonly string[] = ['pod-template-hash', 'rollouts-pod-template-hash'];
/** A CronJob ends the names of its Jobs with the time. */
const CRON_JOB = /^(.+)-\d{8,10}$/s;

/**
 * What a pod is a part of: the Deployment, CronJob and so on that is behind its name, or else the pod itself.
 * @see istio/istio pkg/kube/util.go `GetWorkloadMetaFromPod`
 */
export function workloadNameOfPod({ name, labels, controller }: Config<Pod>): string {
  const said = labels[NAME_LABEL];
  if (said !== undefined) return said;
  return (controller && nameBehind(controller, labels)) || name;
}

function nameBehind({ kind, name }: NonNullable<Config['controller']>, labels: Labels): string {
  switch (kind) {
    case 'ReplicaSet': {
      const hash = TEMPLATE_HASHES.map((label) => labels[label]).find((value) => value && name.endsWith(`-${value}`));
      return hash === undefined ? name : name.slice(0, -hash.length - 1);
    }
    case 'ReplicationController':
      return labels['deploymentconfig'] || name;
    case 'Job':
      return CRON_JOB.exec(name)?.[1] ?? name;
    default:
      return name;
  }
}
