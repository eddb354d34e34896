import type { ServiceEntry } from '#generated/config/specs.ts';
import { placeOf } from '../../config/finding.ts';
import type { Analyzer } from './analyzer.ts';
import { listed } from './names.ts';

/**
 * ServiceEntries that give a port of a host different protocols, where some namespace sees both.
 *
 * @see istio/istio pkg/config/analysis/analyzers/serviceentry/conflictingserviceentries.go
 */
export const PORT_PROTOCOLS: Analyzer<ServiceEntry> = {
  kinds: ['ServiceEntry'],
  *findings({ key, spec }, facts) {
    for (const host of spec.hosts) {
      for (const [i, { number, protocol = '' }] of (spec.ports ?? []).entries()) {
        const rivals = facts.otherProtocols(key, host, number);
        if (rivals.length === 0) continue;
        const theirs = listed(rivals.map((rival) => `${rival.name} (${rival.protocol || 'none'})`));
        yield placeOf(['spec', 'ports', i, 'protocol']).warning(
          `port ${number} of "${host}" is ${protocol || 'of no protocol'} here and another in ServiceEntry ${theirs}: clients that see both speak one of them; write the same protocol`,
          'IST0177',
        );
      }
    }
  },
};
