import type { TrafficExtension, WasmConfig, WasmPlugin } from '#generated/config/specs.ts';
import { type Place, placeOf } from '../../config/finding.ts';
import type { Analyzer } from './analyzer.ts';

/** Where a module is written, and whether it is an image, which has no hash of its own. */
function written({ spec }: { readonly spec: WasmPlugin | TrafficExtension }): readonly [WasmConfig, Place] | undefined {
  if ('url' in spec) return [spec, placeOf(['spec'])];
  return spec.wasm === undefined ? undefined : [spec.wasm, placeOf(['spec', 'wasm'])];
}

/** Modules that proxies can not have. */
export const MODULES: Analyzer<WasmPlugin | TrafficExtension> = {
  kinds: ['WasmPlugin', 'TrafficExtension'],
  *findings(config, facts) {
    const [wasm, place] = written(config) ?? [];
    if (wasm === undefined || place === undefined) return;
    const unfetched = facts.unfetchedModule(wasm);
    if (unfetched === undefined) return;
    const outcome = wasm.failStrategy === 'FAIL_OPEN' ? 'lets everything through' : 'refuses everything';
    const message = `${unfetched.problem}; without Istio's agent the filter ${outcome}`;
    yield unfetched.isImage ? place.at('url').error(message, 'VM0215') : place.at('url').warning(message, 'VM0215');
  },
};
