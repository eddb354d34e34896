import type { RequestAuthentication } from '#generated/config/specs.ts';
import { defineKind, type KindDefinition } from '../kind.ts';
import { RequestAuthentication as schema } from '../schema/request-authentication.ts';

export const REQUEST_AUTHENTICATION: KindDefinition<RequestAuthentication> = defineKind({
  group: 'security.istio.io',
  versions: ['v1', 'v1beta1'],
  kind: 'RequestAuthentication',
  plural: 'requestauthentications',
  scope: 'Namespaced',
  specField: 'spec',
  schema,
});
