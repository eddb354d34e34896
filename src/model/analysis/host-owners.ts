import type { ServiceEntry } from '#generated/config/specs.ts';
import { placeOf } from '../../config/finding.ts';
import type { Analyzer } from './analyzer.ts';
import { listed } from './names.ts';

/** Hosts that several namespaces define for the same clients. */
export const HOST_OWNERS: Analyzer<ServiceEntry> = {
  kinds: ['ServiceEntry'],
  *findings({ spec, key }, facts) {
    for (const [i, host] of spec.hosts.entries()) {
      const others = facts.otherOwners(key, host);
      if (others.length === 0) continue;
      yield placeOf(['spec', 'hosts', i]).warning(
        `namespace ${listed(others)} defines "${host}", too: a namespace has its own, all others the oldest; export each where it is meant (exportTo)`,
        'VM0211',
      );
    }
  },
};
