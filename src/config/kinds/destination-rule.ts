import type { DestinationRule } from '#generated/config/specs.ts';
import { defineKind, type KindDefinition } from '../kind.ts';
import { DestinationRule as schema } from '../schema/destination-rule.ts';

export const DESTINATION_RULE: KindDefinition<DestinationRule> = defineKind({
  group: 'networking.istio.io',
  versions: ['v1', 'v1beta1', 'v1alpha3'],
  kind: 'DestinationRule',
  plural: 'destinationrules',
  scope: 'Namespaced',
  specField: 'spec',
  schema,
});
