import type { Sidecar } from '#generated/config/specs.ts';
import { defineKind, type KindDefinition } from '../kind.ts';
import { Sidecar as schema } from '../schema/sidecar.ts';

export const SIDECAR: KindDefinition<Sidecar> = defineKind({
  group: 'networking.istio.io',
  versions: ['v1', 'v1beta1', 'v1alpha3'],
  kind: 'Sidecar',
  plural: 'sidecars',
  scope: 'Namespaced',
  specField: 'spec',
  schema,
});
