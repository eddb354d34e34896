import type { ServiceEntry } from '#generated/config/specs.ts';
import { defineKind, type KindDefinition } from '../kind.ts';
import { ServiceEntry as schema } from '../schema/service-entry.ts';

export const SERVICE_ENTRY: KindDefinition<ServiceEntry> = defineKind({
  group: 'networking.istio.io',
  versions: ['v1', 'v1beta1', 'v1alpha3'],
  kind: 'ServiceEntry',
  plural: 'serviceentries',
  scope: 'Namespaced',
  specField: 'spec',
  schema,
});
