import type { VirtualService } from '#generated/config/specs.ts';
import { defineKind, type KindDefinition } from '../kind.ts';
import { VirtualService as schema } from '../schema/virtual-service.ts';

export const VIRTUAL_SERVICE: KindDefinition<VirtualService> = defineKind({
  group: 'networking.istio.io',
  versions: ['v1', 'v1beta1', 'v1alpha3'],
  kind: 'VirtualService',
  plural: 'virtualservices',
  scope: 'Namespaced',
  specField: 'spec',
  schema,
});
