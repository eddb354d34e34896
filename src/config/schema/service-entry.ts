import { bounded, type Enum, enumeration, list, type Message, message, one, string, uint32 } from './schema.ts';
import { WorkloadSelector } from './selector.ts';
import { WorkloadEntry } from './workload-entry.ts';

export const ServicePort: Message = message('ServicePort', '', {
  number: one(bounded(uint32, { min: 1, max: 65535 }), '', { required: true }),
  protocol: one(bounded(string, { maxLength: 256 }), ''),
  name: one(bounded(string, { maxLength: 256 }), '', { required: true }),
  targetPort: one(bounded(uint32, { min: 1, max: 65535 }), ''),
});

export const ServiceEntryLocation: Enum = enumeration('ServiceEntryLocation', '', ['MESH_EXTERNAL', 'MESH_INTERNAL']);

export const ServiceEntryResolution: Enum = enumeration('ServiceEntryResolution', '', [
  'NONE',
  'STATIC',
  'DNS',
  'DNS_ROUND_ROBIN',
  'DYNAMIC_DNS',
]);

export const ServiceEntry: Message = message('ServiceEntry', '', {
  hosts: list(string, '', { required: true, minItems: 1, maxItems: 256 }),
  addresses: list(bounded(string, { maxLength: 64 }), '', { maxItems: 256 }),
  ports: list(ServicePort, '', { maxItems: 256 }),
  location: one(ServiceEntryLocation, ''),
  resolution: one(ServiceEntryResolution, ''),
  endpoints: list(WorkloadEntry, '', { maxItems: 4096 }),
  workloadSelector: one(WorkloadSelector, ''),
  exportTo: list(string, ''),
  subjectAltNames: list(string, ''),
});
