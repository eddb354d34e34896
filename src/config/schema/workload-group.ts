import { FOR_REGISTRATION } from './ignored.ts';
import { ReadinessProbe } from './readiness-probe.ts';
import { ignored, type Message, map, message, one, string } from './schema.ts';
import { WorkloadEntry } from './workload-entry.ts';

export const ObjectMeta: Message = message('ObjectMeta', 'Metadata of the WorkloadEntries that are made.', {
  labels: map(string, 'Labels.', { maxItems: 256 }),
  annotations: map(string, 'Annotations.', { maxItems: 256 }),
});

export const WorkloadGroup: Message = message(
  'WorkloadGroup',
  'What the instances of a workload on VMs have in common.',
  {
    metadata: one(ObjectMeta, 'Metadata of their WorkloadEntries.'),
    template: ignored(
      one(WorkloadEntry, 'Their WorkloadEntries, without the address.', { required: true }),
      FOR_REGISTRATION,
    ),
    probe: ignored(one(ReadinessProbe, 'How to tell that an instance is ready.'), FOR_REGISTRATION),
  },
);
