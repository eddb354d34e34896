import type { TrafficExtension } from '#generated/config/specs.ts';
import { defineKind, type KindDefinition } from '../kind.ts';
import { TrafficExtension as schema } from '../schema/traffic-extension.ts';
import { luaProblem } from './lua.ts';
import { problem } from './names.ts';
import { targetedFindings } from './selectors.ts';
import { selectedPortsFindings, wasmModuleFindings } from './wasm-module.ts';

/** @see istio/istio pkg/config/validation/validation.go `ValidateTrafficExtension` */
export const TRAFFIC_EXTENSION: KindDefinition<TrafficExtension> = defineKind({
  group: 'extensions.istio.io',
  versions: ['v1alpha1'],
  kind: 'TrafficExtension',
  plural: 'trafficextensions',
  scope: 'Namespaced',
  specField: 'spec',
  schema,
  *validate({ spec, at }) {
    yield* targetedFindings(at(), spec);
    yield* selectedPortsFindings(at('match'), spec.match);
    if ((spec.wasm ?? spec.lua) === undefined) yield at().error('says not what to run: set wasm or lua');
    // Envoy would refuse every listener that the script is in.
    if (spec.lua !== undefined) yield* problem(at('lua', 'inlineCode'), luaProblem(spec.lua.inlineCode));
    if (spec.wasm !== undefined) yield* wasmModuleFindings(at('wasm'), spec.wasm);
  },
});
