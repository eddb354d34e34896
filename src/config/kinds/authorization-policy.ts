import type { AuthorizationPolicy } from '#generated/config/specs.ts';
import { defineKind, type KindDefinition } from '../kind.ts';
import { AuthorizationPolicy as schema } from '../schema/authorization-policy.ts';

export const AUTHORIZATION_POLICY: KindDefinition<AuthorizationPolicy> = defineKind({
  group: 'security.istio.io',
  versions: ['v1', 'v1beta1'],
  kind: 'AuthorizationPolicy',
  plural: 'authorizationpolicies',
  scope: 'Namespaced',
  specField: 'spec',
  schema,
});
