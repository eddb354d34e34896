import type { TrafficExtension } from '#generated/config/specs.ts';
import { defineKind, type KindDefinition } from '../kind.ts';
import { TrafficExtension as schema } from '../schema/traffic-extension.ts';

export const TRAFFIC_EXTENSION: KindDefinition<TrafficExtension> = defineKind({
  group: 'extensions.istio.io',
  versions: ['v1alpha1'],
  kind: 'TrafficExtension',
  plural: 'trafficextensions',
  scope: 'Namespaced',
  specField: 'spec',
  schema,
});
