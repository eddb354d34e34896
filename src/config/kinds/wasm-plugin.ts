import type { WasmPlugin } from '#generated/config/specs.ts';
import { defineKind, type KindDefinition } from '../kind.ts';
import { WasmPlugin as schema } from '../schema/wasm-plugin.ts';
import { targetedFindings } from './selectors.ts';
import { selectedPortsFindings, wasmModuleFindings } from './wasm-module.ts';

export const WASM_PLUGIN: KindDefinition<WasmPlugin> = defineKind({
  group: 'extensions.istio.io',
  versions: ['v1alpha1'],
  kind: 'WasmPlugin',
  plural: 'wasmplugins',
  scope: 'Namespaced',
  specField: 'spec',
  schema,
  *validate({ spec, at }) {
    yield* targetedFindings(at(), spec);
    yield* selectedPortsFindings(at('match'), spec.match);
    yield* wasmModuleFindings(at(), spec);
  },
});
