import type { Gateway } from '#generated/config/specs.ts';
import { defineKind, type KindDefinition } from '../kind.ts';
import { Gateway as schema } from '../schema/gateway.ts';

export const GATEWAY: KindDefinition<Gateway> = defineKind({
  group: 'networking.istio.io',
  versions: ['v1', 'v1beta1', 'v1alpha3'],
  kind: 'Gateway',
  plural: 'gateways',
  scope: 'Namespaced',
  specField: 'spec',
  schema,
});
