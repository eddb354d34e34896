import type { EnvoyFilter } from '#generated/config/specs.ts';
import { defineKind, type KindDefinition } from '../kind.ts';
import { EnvoyFilter as schema } from '../schema/envoy-filter.ts';

export const ENVOY_FILTER: KindDefinition<EnvoyFilter> = defineKind({
  group: 'networking.istio.io',
  versions: ['v1alpha3'],
  kind: 'EnvoyFilter',
  plural: 'envoyfilters',
  scope: 'Namespaced',
  specField: 'spec',
  schema,
});
