import type { EnvoyFilter } from '#generated/config/specs.ts';
import { placeOf } from '../../config/finding.ts';
import type { Analyzer } from './analyzer.ts';

/** Patches that connected proxies do not get, or get for nothing. */
export const PATCH_USES: Analyzer<EnvoyFilter> = {
  kinds: ['EnvoyFilter'],
  *findings({ key }, facts) {
    for (const [index, { isUsed, leftOut }] of facts.patchUses(key)) {
      const at = placeOf(['spec', 'configPatches', index]);
      if (leftOut !== undefined) {
        yield at
          .at('patch')
          .warning(`is left out for ${leftOut.proxy}, whose Envoy would refuse it: ${leftOut.reason}`, 'VM0231');
      } else if (!isUsed) {
        yield at.at('match').info('matches nothing that the connected proxies have for which it is', 'VM0232');
      }
    }
  },
};
