import { bounded, type Message, map, message, one, string, uint32 } from './schema.ts';

export const WorkloadEntry: Message = message('WorkloadEntry', 'One instance of a workload, as on a VM.', {
  address: one(
    bounded(string, { maxLength: 256 }),
    'IP address, `unix://` path, or, where names are resolved, a host name.',
  ),
  ports: map(
    bounded(uint32, { min: 1, max: 65535 }),
    "Ports of the instance, by name of the service's port. Default: the target port.",
    { maxItems: 128 },
  ),
  labels: map(string, 'Labels, by which services and policies select it.', { maxItems: 256 }),
  network: one(bounded(string, { maxLength: 2048 }), 'Network that the address is in.'),
  locality: one(bounded(string, { maxLength: 2048 }), 'Locality, as `region/zone/subzone`.'),
  weight: one(uint32, 'Share of the traffic, relative to others in the same locality. Default 1.'),
  serviceAccount: one(bounded(string, { maxLength: 253 }), 'Service account that it runs under.'),
});
