import { ReadinessProbe } from './readiness-probe.ts';
import { type Message, map, message, one, string } from './schema.ts';
import { WorkloadEntry } from './workload-entry.ts';

export const ObjectMeta: Message = message('ObjectMeta', '', {
  labels: map(string, '', { maxItems: 256 }),
  annotations: map(string, '', { maxItems: 256 }),
});

export const WorkloadGroup: Message = message('WorkloadGroup', '', {
  metadata: one(ObjectMeta, ''),
  template: one(WorkloadEntry, '', { required: true }),
  probe: one(ReadinessProbe, ''),
});
