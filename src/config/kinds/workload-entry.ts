import type { WorkloadEntry } from '#generated/config/specs.ts';
import { defineKind, type KindDefinition } from '../kind.ts';
import { WorkloadEntry as schema } from '../schema/workload-entry.ts';

export const WORKLOAD_ENTRY: KindDefinition<WorkloadEntry> = defineKind({
  group: 'networking.istio.io',
  versions: ['v1', 'v1beta1', 'v1alpha3'],
  kind: 'WorkloadEntry',
  plural: 'workloadentries',
  scope: 'Namespaced',
  specField: 'spec',
  schema,
});
