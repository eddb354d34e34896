import { bounded, type Enum, enumeration, type Message, map, message, one, string, uint32 } from './schema.ts';

export const WorkloadSelector: Message = message('WorkloadSelector', 'Workloads by their labels.', {
  labels: map(bounded(string, { maxLength: 63 }), 'Labels that they must have, with their values.', { maxItems: 256 }),
});

export const PolicyWorkloadSelector: Message = message('PolicyWorkloadSelector', 'Workloads by their labels.', {
  matchLabels: map(bounded(string, { maxLength: 63 }), 'Labels that they must have, with their values.', {
    maxItems: 4096,
  }),
});

export const PolicyPortSelector: Message = message('PolicyPortSelector', 'A port.', {
  number: one(bounded(uint32, { min: 1, max: 65535 }), 'Its number.', { required: true }),
});

export const PolicyTargetReference: Message = message(
  'PolicyTargetReference',
  'A gateway or service that a policy is for.',
  {
    group: one(
      bounded(string, {
        maxLength: 253,
        pattern: '^$|^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$',
      }),
      'Its API group; empty for a Service.',
    ),
    kind: one(
      bounded(string, { minLength: 1, maxLength: 63, pattern: '^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$' }),
      'Its kind.',
      { required: true },
    ),
    name: one(bounded(string, { minLength: 1, maxLength: 253 }), 'Its name.', { required: true }),
    namespace: one(string, "Not supported: it is in the policy's own namespace."),
  },
);

export const PolicyWorkloadMode: Enum = enumeration('PolicyWorkloadMode', 'Whether the workload is client or server.', [
  'UNDEFINED',
  'CLIENT',
  'SERVER',
  'CLIENT_AND_SERVER',
]);
