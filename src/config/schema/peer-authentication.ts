import { type Enum, enumeration, type Message, map, message, one } from './schema.ts';
import { PolicyWorkloadSelector } from './selector.ts';

export const MutualTLSMode: Enum = enumeration('MutualTLSMode', '', ['UNSET', 'DISABLE', 'PERMISSIVE', 'STRICT']);

export const MutualTLS: Message = message('MutualTLS', '', {
  mode: one(MutualTLSMode, ''),
});

export const PeerAuthentication: Message = message('PeerAuthentication', '', {
  selector: one(PolicyWorkloadSelector, ''),
  mtls: one(MutualTLS, ''),
  portLevelMtls: map(MutualTLS, '', { keys: 'uint32', minItems: 1 }),
});
