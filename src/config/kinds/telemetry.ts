import type { Telemetry } from '#generated/config/specs.ts';
import { defineKind, type KindDefinition } from '../kind.ts';
import { Telemetry as schema } from '../schema/telemetry.ts';

export const TELEMETRY: KindDefinition<Telemetry> = defineKind({
  group: 'telemetry.istio.io',
  versions: ['v1', 'v1alpha1'],
  kind: 'Telemetry',
  plural: 'telemetries',
  scope: 'Namespaced',
  specField: 'spec',
  schema,
});
