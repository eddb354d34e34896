import { bounded, type Enum, enumeration, list, type Message, message, one, string, uint32 } from './schema.ts';
import { WorkloadSelector } from './selector.ts';
import { WorkloadEntry } from './workload-entry.ts';

export const ServicePort: Message = message('ServicePort', 'A port of a service.', {
  number: one(bounded(uint32, { min: 1, max: 65535 }), 'Its number.', { required: true }),
  protocol: one(
    bounded(string, { maxLength: 256 }),
    'Protocol spoken on it: HTTP, HTTPS, GRPC, HTTP2, MONGO, TCP or TLS.',
  ),
  name: one(bounded(string, { maxLength: 256 }), 'Its name, unique in the service.', { required: true }),
  targetPort: one(bounded(uint32, { min: 1, max: 65535 }), 'Port of the endpoints. Default: `number`.'),
});

export const ServiceEntryLocation: Enum = enumeration(
  'ServiceEntryLocation',
  'Whether a service is part of the mesh.',
  ['MESH_EXTERNAL', 'MESH_INTERNAL'],
);

export const ServiceEntryResolution: Enum = enumeration('ServiceEntryResolution', 'How endpoints are found.', [
  'NONE',
  'STATIC',
  'DNS',
  'DNS_ROUND_ROBIN',
  'DYNAMIC_DNS',
]);

export const ServiceEntry: Message = message('ServiceEntry', 'A service that no other source knows.', {
  hosts: list(string, 'Its host names; a wildcard may stand in the first label.', {
    required: true,
    minItems: 1,
    maxItems: 256,
  }),
  addresses: list(bounded(string, { maxLength: 64 }), 'Its virtual addresses or blocks.', { maxItems: 256 }),
  ports: list(ServicePort, 'Its ports.', { maxItems: 256 }),
  location: one(
    ServiceEntryLocation,
    "Outside of the mesh, or in it, so that mutual TLS and the mesh's policies hold.",
  ),
  resolution: one(ServiceEntryResolution, 'How its endpoints are found.'),
  endpoints: list(WorkloadEntry, 'Its endpoints.', { maxItems: 4096 }),
  workloadSelector: one(
    WorkloadSelector,
    'Labels of the WorkloadEntries and pods that are its endpoints, instead of `endpoints`.',
  ),
  exportTo: list(string, 'Namespaces that see it: `.` its own, `*` all, `~` none. None: as mesh.yaml says.'),
  subjectAltNames: list(string, "Names one of which the endpoints' certificates must have."),
});
