import type { WorkloadGroup } from '#generated/config/specs.ts';
import { defineKind, type KindDefinition } from '../kind.ts';
import { WorkloadGroup as schema } from '../schema/workload-group.ts';

export const WORKLOAD_GROUP: KindDefinition<WorkloadGroup> = defineKind({
  group: 'networking.istio.io',
  versions: ['v1', 'v1beta1', 'v1alpha3'],
  kind: 'WorkloadGroup',
  plural: 'workloadgroups',
  scope: 'Namespaced',
  specField: 'spec',
  schema,
});
