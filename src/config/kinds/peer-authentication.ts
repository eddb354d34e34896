import type { PeerAuthentication } from '#generated/config/specs.ts';
import { defineKind, type KindDefinition } from '../kind.ts';
import { PeerAuthentication as schema } from '../schema/peer-authentication.ts';

export const PEER_AUTHENTICATION: KindDefinition<PeerAuthentication> = defineKind({
  group: 'security.istio.io',
  versions: ['v1', 'v1beta1'],
  kind: 'PeerAuthentication',
  plural: 'peerauthentications',
  scope: 'Namespaced',
  specField: 'spec',
  schema,
});
