import { type Enum, enumeration, type Message, map, message, one } from './schema.ts';
import { PolicyWorkloadSelector } from './selector.ts';

export const MutualTLSMode: Enum = enumeration('MutualTLSMode', 'Whether clients must use mutual TLS.', [
  'UNSET',
  'DISABLE',
  'PERMISSIVE',
  'STRICT',
]);

export const MutualTLS: Message = message('MutualTLS', 'Mutual TLS from clients.', {
  mode: one(MutualTLSMode, 'Not at all, if they wish, or always. Unset: as the next wider policy says.'),
});

export const PeerAuthentication: Message = message('PeerAuthentication', 'Whether clients must use mutual TLS.', {
  selector: one(PolicyWorkloadSelector, 'Workloads that it is for. None: all of the namespace.'),
  mtls: one(MutualTLS, 'For all ports.'),
  portLevelMtls: map(MutualTLS, 'For single ports of the workload, by number.', { keys: 'uint32', minItems: 1 }),
});
