import { bounded, type Message, map, message, one, string, uint32 } from './schema.ts';

export const WorkloadEntry: Message = message('WorkloadEntry', '', {
  address: one(bounded(string, { maxLength: 256 }), ''),
  ports: map(bounded(uint32, { min: 1, max: 65535 }), '', { maxItems: 128 }),
  labels: map(string, '', { maxItems: 256 }),
  network: one(bounded(string, { maxLength: 2048 }), ''),
  locality: one(bounded(string, { maxLength: 2048 }), ''),
  weight: one(uint32, ''),
  serviceAccount: one(bounded(string, { maxLength: 253 }), ''),
});
