import { bounded, type Enum, enumeration, type Message, map, message, one, string, uint32 } from './schema.ts';

export const WorkloadSelector: Message = message('WorkloadSelector', '', {
  labels: map(bounded(string, { maxLength: 63 }), '', { maxItems: 256 }),
});

export const PolicyWorkloadSelector: Message = message('PolicyWorkloadSelector', '', {
  matchLabels: map(bounded(string, { maxLength: 63 }), '', { maxItems: 4096 }),
});

export const PolicyPortSelector: Message = message('PolicyPortSelector', '', {
  number: one(bounded(uint32, { min: 1, max: 65535 }), '', { required: true }),
});

export const PolicyTargetReference: Message = message('PolicyTargetReference', '', {
  group: one(
    bounded(string, {
      maxLength: 253,
      pattern: '^$|^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$',
    }),
    '',
  ),
  kind: one(bounded(string, { minLength: 1, maxLength: 63, pattern: '^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$' }), '', {
    required: true,
  }),
  name: one(bounded(string, { minLength: 1, maxLength: 253 }), '', { required: true }),
  namespace: one(string, ''),
});

export const PolicyWorkloadMode: Enum = enumeration('PolicyWorkloadMode', '', [
  'UNDEFINED',
  'CLIENT',
  'SERVER',
  'CLIENT_AND_SERVER',
]);
